story "A command that was claimed and never began is run once after a crash, and no person is asked" proves STORE-02
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
expect g1 is working
crash host 1
start host 1
wait 1m
crash host 1
hands work
start host 1
wait 1m
expect the command of g1 was run 1 times
expect g1 is done
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.returned effect.claimed effect.returned effect.claimed effect.ended goal.completed"
crash host 1
start host 1
wait 1m
expect the command of g1 was run 1 times
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
