story "The store is put back twice, and what is new each time is done once"
fleet 2 hosts, lease 4s
goal g1
the store is backed up
goal g2 with command
expect the command of g2 was run 1 times
the store is put back
start host 1
start host 2
wait 10s
expect g2 is not in the store
goal g3 with command
expect the command of g3 was run 1 times
expect g3 is done
the store is put back
start host 1
start host 2
wait 10s
expect g3 is not in the store
goal g4 with command at host 2
expect the command of g4 was run 1 times
expect g4 is done
host 1 hears of g1 that "here I am again"
expect g1 has 1 reports
expect g1 has 1 goal.restored records
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g4
