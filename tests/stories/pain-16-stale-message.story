story "Stale message kills the new run: what belongs to the run before changes nothing" proves TICK-10 ASSIGN-06
fleet 1 hosts, lease 4m
policy reassign forbidden
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 dies
at 12m  expect auto-1 was started 2 times
auto-1 works
at 13m  the run of auto-1 before dies
at 40m  expect auto-1 was started 2 times
expect assignment of T1 active
# what must not happen
expect no nudge, reassignment, landing, question or doubt of g1
expect no stall or stop of g1 before 5m
expect no resend of g1 before 7m
