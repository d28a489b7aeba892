story "Must fail: a rule acts, and nothing is forbidden" proves TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 16m  expect nudge auto-1 #1
