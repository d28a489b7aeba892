story "Work that waits for something else does not begin" proves TICK-03 PLAN-35
fleet 1 hosts, lease 4m
agents auto-1
goal g1
g1 is planned as "P1(T1 T2<T1)"
at 10m  expect auto-1 was started 1 times
expect T2 of g1 is todo
at 11m  auto-1 says done with commit "1a2b"
expect auto-1 was started 2 times
expect T2 of g1 is in_progress
expect assignment of T2 dispatched
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 11m
