story "A goal cannot be completed by hand while something of it runs"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
g1 is completed because "looks fine"
expect the answer about g1 is E_CONFLICT
expect g1 is working
hands work
expect g1 is done
expect g1 has 1 goal.completed records
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
