story "Cancelling a goal lets what runs come to its end, and that is recorded"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
g1 is cancelled
expect g1 has status cancelled
expect g1 is working
g1 is archived
# not while something of it runs
expect the answer about g1 is E_CONFLICT
hands work
expect the command of g1 was run 1 times
expect g1 is cancelled
expect the last records of g1 to be "effect.claimed goal.cancelled effect.ended"
g1 is archived
expect g1 is archived
# what must not happen
expect no goal.needs_person, doubt, goal.completed, effect.withdrawn or quarantine of g1
