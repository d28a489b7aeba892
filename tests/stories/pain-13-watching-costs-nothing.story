story "Supervisor itself burns tokens: with nothing to do it does nothing and writes nothing" proves TICK-20
fleet 1 hosts, lease 20m
agents auto-1
goal g1
g1 is planned as "P1(T1)"
auto-1 works
at 40m  expect assignment of T1 active
at 12h  expect nothing
expect at most 0 looks
expect nudge auto-1 #0
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
