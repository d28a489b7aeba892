story "A command that fails asks a person, and is not repeated"
fleet 1 hosts, lease 4s
commands end with 3
goal g1 with command
wait 5m
expect g1 is "needs you"
expect g1 needs failed
expect the command of g1 was run 1 times
# what must not happen
expect no doubt, goal.completed, goal.cancelled, effect.withdrawn or quarantine of g1
