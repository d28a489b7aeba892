story "What we say to an agent does not count as its activity" proves TICK-09 TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 15m  expect nudge auto-1 #1
another sender writes to auto-1 "are you there?"
at 18m  expect assignment of T1 stalled
at 22m  expect nudge auto-1 #2
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
