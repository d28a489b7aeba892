story "Do not invent a reset time: without one the account rests for a while, and one agent tries first" proves RECOVER-14
fleet 1 hosts, lease 4m
agents auto-1 on acme
policy quota-guess 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 is at its limit
expect assignment of T1 waits for quota
at 18m  expect auto-1 was sent again 0 times
auto-1 is silent
at 25m  expect assignment of T1 dispatched
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
