story "The same moment twice decides nothing more" proves TICK-20
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 15m  expect nudge auto-1 #1
crash
crash
expect nudge auto-1 #1
expect g1 has 1 assignment.stalled records
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
