story "What runs when a goal is paused goes on to its outcome, which counts once it is resumed"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
expect the open effects of g1 to be running
g1 is paused
hands work
expect the command of g1 was run 1 times
expect g1 is paused
crash host 1
start host 1
g1 is resumed
expect g1 is done
expect the last records of g1 to be "goal.paused effect.ended goal.resumed goal.completed"
expect the command of g1 was run 1 times
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
