story "Runaway spawning: forty pieces of work start as many agents as may work at once, and no more" proves TICK-25
fleet 1 hosts, lease 4m
agents auto-1
policy most-at-once 3, most-per-goal 20, idle-after 10h
goal g1
g1 is planned as "P1(T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12)"
goal g2
g2 is planned as "P1(T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12)"
at 60m  expect auto-1 was started 3 times
auto-1 says done with commit "1a2b"
at 62m  expect auto-1 was started 4 times
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 1h
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
expect no start of g2 before 1h
