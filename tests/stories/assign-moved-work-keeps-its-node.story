story "Work that is moved to another agent is another assignment; its node stays as it was planned"
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, first-rung reassign, reassign allowed
goal g1
g1 is planned as "P1(T1 T2<T1)"
at 10m  expect auto-1 was started 1 times
expect g1 has 1 rows of assignment
the row of T1 of g1 is kept
at 20m  expect auto-2 works on T1
expect the row of T1 of g1 has changed in "attempts run" shows ASSIGN-01.a
expect g1 has 2 rows of assignment shows ASSIGN-01.b
expect no nudge, resend, landing, question or doubt of g1
expect no stall, reassignment or stop of g1 before 15m
