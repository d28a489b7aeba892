story "Recovery ran before it listened: no agent is called stalled for our own absence" proves TICK-11 TICK-17
fleet 1 hosts, lease 20m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 10m  crash host 1
at 10h  start host 1
at 10h10m  expect nudge auto-1 #0
expect g1 has 0 assignment.stalled records
at 10h15m  expect nudge auto-1 #1
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 10h15m
