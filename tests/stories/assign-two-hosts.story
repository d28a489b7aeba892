story "Another host takes over: agents are unknown to it until it has looked, and nobody is started twice" proves TICK-17
fleet 2 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 10m  crash host 1
at 2h   expect g1 owned by host 2
expect auto-1 was started 1 times
expect nudge auto-1 #0
auto-1 says done with commit "1a2b"
at 2h5m expect g1 is done
