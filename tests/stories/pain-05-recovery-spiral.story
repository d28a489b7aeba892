story "Recovery death spiral: an agent that dies again and again is not started again and again" proves RECOVER-08 RECOVER-12
fleet 1 hosts, lease 20m
policy max-restarts 2, restart-window 6h, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 10m  auto-1 dies
at 20m  auto-1 works
at 60m  auto-1 dies
at 80m  auto-1 works
at 2h   auto-1 dies
at 48h  expect auto-1 was started 3 times
expect g1 asks 1 questions
expect assignment of T1 blocked
# what must not happen
expect no reassignment, landing or doubt of g1
expect no stall or stop of g1 before 10m
expect no nudge of g1 before 1h20m
expect no resend of g1 before 15m
expect no question of g1 before 2h
