story "The first sign of paid usage freezes the runs of the account and asks once; nothing begins with it and no run is taken for stalled until a person allows it"
fleet 1 hosts, lease 20m
agents auto-1 on acme, auto-2 on acme
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
auto-1 works
at 10m  the account acme reports paid usage for 5h
the host freezes auto-1 for paid usage
the account acme reports paid usage for 5h
at 11m  expect "desk 1" asks 1 questions
expect question "desk 1" "begins to cost extra"
expect assignment of T1 blocked
expect assignment of T1 waits for overage
goal g2 with task T2, assigned to auto-2
at 2h   expect assignment of T2 in g2 queued
expect auto-1 was stopped 0 times
the person answers "desk 1" with 2
at 121m the host lets auto-1 go on after paid usage
at 122m expect assignment of T1 active
expect assignment of T2 in g2 dispatched
# what must not happen
expect no start of g2 before 2h
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, landing, question or doubt of g2
