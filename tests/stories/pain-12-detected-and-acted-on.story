story "Stall detected, never acted on: every stall leads to something within a sweep, or to a reason on the record" proves TICK-21
fleet 1 hosts, lease 4m
agents auto-1
policy idle-after 15m, most-per-goal 8
goal g1
g1 is planned as "P1(T1 T2 T3 T4 T5)"
at 16m  expect g1 has 5 assignment.stalled records
at 18m  expect nudge auto-1 #5
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
