story "A paused goal begins nothing at the host that takes it over either"
fleet 2 hosts, lease 4s
freeze host 1
goal g1 with command
g1 is paused
thaw host 1
crash host 1
wait 1m
expect g1 owned by host 2
expect the command of g1 was run 0 times
start host 1
wait 1m
expect the command of g1 was run 0 times
g1 is resumed at host 2
expect the command of g1 was run 1 times
expect g1 is done
wait 1m
expect the command of g1 was run 1 times
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
