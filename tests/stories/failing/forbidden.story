story "Must fail: a nudge is forbidden that was sent" proves TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 20m  expect no resend or nudge of g1
