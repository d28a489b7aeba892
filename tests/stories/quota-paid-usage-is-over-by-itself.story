story "Without an answer the runs of an account stay frozen until the included usage begins again; a run that is to end is ended and its work kept"
fleet 1 hosts, lease 20m
agents auto-1 on acme, auto-2 on acme
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
auto-1 works
auto-2 works
at 10m  the account acme reports paid usage for 1h
the host freezes auto-1 for paid usage
the host freezes auto-2 for paid usage
goal g3 with task T3, assigned to auto-2
at 1h   expect assignment of T1 waits for overage
expect assignment of T3 in g3 queued
the host ends auto-2 for paid usage
at 61m  expect auto-2 was stopped 1 times
at 71m  expect "desk 1" asks 0 questions
expect assignment of T3 in g3 dispatched
the host lets auto-1 go on after paid usage
at 72m  expect assignment of T1 active
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no start of g3 before 70m
