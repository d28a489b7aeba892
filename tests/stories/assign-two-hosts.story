story "Another host takes over: it starts the task again only when the agent of the lost host is certainly frozen" proves TICK-17
fleet 2 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 10m  crash host 1
at 25m  expect g1 owned by host 2
expect auto-1 was started 1 times
expect nudge auto-1 #0
at 40m  expect auto-1 was started 2 times
expect auto-1 was stopped 0 times
auto-1 says done with commit "1a2b"
at 45m  expect g1 is done
# what must not happen
expect no nudge, reassignment, landing or question of g1
