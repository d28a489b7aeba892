story "What became of a dispatch is one of four, and each is told apart"
fleet 1 hosts, lease 4m
agents auto-1, auto-2, auto-3, auto-4
policy idle-after 15m, reassign forbidden
goal g1 with task T1, assigned to auto-1
expect the dispatches of g1 to be "sessions_spawn accepted" shows ASSIGN-13.b
the next run ends its turn before its receipt
goal g2 with task T2, assigned to auto-2
expect the dispatches of g2 to be "sessions_spawn ok" shows ASSIGN-13.b
expect assignment of T2 in g2 dispatched
the receipt of the next words is lost
goal g3 with task T3, assigned to auto-3
expect the dispatches of g3 to be "sessions_spawn timeout, sessions_spawn accepted" shows ASSIGN-13.b TICK-18
the next words cannot be delivered
goal g4 with task T4, assigned to auto-4
expect the dispatches of g4 to be "sessions_spawn error" shows ASSIGN-13.b
expect assignment of T4 in g4 stalled
at 16m  expect nudge auto-1 #1
expect the dispatches of g1 to be "sessions_spawn accepted, sessions_send accepted"
expect the dispatches of g2 to be "sessions_spawn ok, sessions_send accepted"
expect auto-3 was started 1 times
expect the dispatches of g4 to be "sessions_spawn error, sessions_spawn accepted"
expect no reassignment, landing or quarantine
