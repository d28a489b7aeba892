story "No way to stop everything at once: stopped, nobody is nudged, started or replaced; resumed, it goes on" proves CLI-11
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   host 1 is told to stop the fleet
goal g2 with task T2, assigned to auto-1
at 3h   expect nudge auto-1 #0
expect auto-1 was started 1 times
host 1 is told to resume the fleet
at 4h   expect auto-1 was started 2 times
