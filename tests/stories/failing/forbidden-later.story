story "Must fail: a stall is forbidden until after it" proves TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
expect no stall of g1 until 14m
expect no stall of g1 until 16m
