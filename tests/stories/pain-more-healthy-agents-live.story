story "Healthy agents killed: who works is neither nudged nor looked at nor stopped, for days" proves TICK-08 TICK-13
fleet 1 hosts, lease 20m
agents auto-1
policy idle-after 15m, most-per-goal 4
goal g1
g1 is planned as "P1(T1)"
auto-1 works
at 20m  crash
at 72h  expect auto-1 was stopped 0 times
expect nudge auto-1 #0
expect at most 1 looks
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
