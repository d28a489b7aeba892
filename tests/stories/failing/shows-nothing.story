story "Must fail: what is no expectation shows nothing" proves TICK-13
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1 shows TICK-13
expect T1 of g1 is in_progress
