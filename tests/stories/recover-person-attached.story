story "While a person sits at its terminal nothing is done to it" proves RECOVER-14
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   a person attaches to auto-1
at 3h   expect nudge auto-1 #0
the person leaves auto-1
at 3h3m  expect nudge auto-1 #1
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 3h
