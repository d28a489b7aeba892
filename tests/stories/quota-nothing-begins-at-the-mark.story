story "Nothing begins while a window of its account is used up to the mark; what works goes on, and what waits begins after the reset"
fleet 1 hosts, lease 20m
agents auto-1 on acme, auto-2 on acme, auto-3 on other
account acme mark 80
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
auto-1 works
at 10m  the account acme reports its 5h window at 79 percent for 3h
goal g2 with task T2, assigned to auto-2
at 20m  expect assignment of T2 in g2 dispatched
the account acme reports its 5h window at 80 percent for 2h
goal g3 with task T3, assigned to auto-2
goal g4 with task T4, assigned to auto-3
auto-3 works
at 1h   expect assignment of T3 in g3 queued
expect assignment of T1 active
expect assignment of T4 in g4 active
at 141m expect assignment of T3 in g3 dispatched
# what must not happen
expect no start of g3 before 140m
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g4
expect no start of g4 before 20m
