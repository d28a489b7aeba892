story "Animation defeats activity checks: a dialog behind a spinner is found by reading what stands there" proves RECOVER-13
fleet 1 hosts, lease 4m
policy idle-after 15m, chatter-most 15m
goal g1 with task T1, assigned to auto-1
at 1m   auto-1 chatters
at 29m  expect nudge auto-1 #0
at 35m  expect assignment of T1 stalled
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 31m
