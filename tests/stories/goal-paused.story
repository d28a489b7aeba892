story "A paused goal begins nothing; when it goes on, what it had to do is done once"
fleet 1 hosts, lease 4s
freeze host 1
goal g1 with command
g1 is paused
thaw host 1
wait 5m
expect the command of g1 was run 0 times
crash host 1
start host 1
wait 5m
expect the command of g1 was run 0 times
expect the open effects of g1 to be ready
expect g1 is paused
g1 is resumed
expect the command of g1 was run 1 times
expect g1 is done
expect the records of g1 to be "goal.created effect.decided goal.paused goal.resumed effect.claimed effect.ended goal.completed"
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
