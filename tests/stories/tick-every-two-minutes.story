story "What is not known is looked at in each sweep, not between; an event is acted on when it comes"
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, tick-every 2m, max-restarts 2, reassign forbidden
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
auto-1 cannot be observed
auto-2 works
at 14m  expect g1 has 0 agent.seen records
at 15m  expect g1 has 2 agent.seen records
at 17m  expect g1 has 4 agent.seen records
at 19m  expect g1 has 6 agent.seen records shows TICK-01.a
expect no look of g1 before 15m
expect no look of g1 from 15m1s to 17m
expect no look of g1 from 17m1s to 19m
# an event, between two sweeps
at 20m  auto-2 dies
expect assignment of T2 in g2 stalled shows TICK-01.b
expect no resend, reassignment, landing or doubt of g1
