story "Usage limit parks the fleet: all who use the account wait until it may be used again, then what was asked is asked again" proves RECOVER-14
fleet 1 hosts, lease 20m
agents auto-1 on acme, auto-2 on acme, auto-3 on other
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
auto-1 works
auto-2 works
at 20m  auto-1 is at its limit for 5h
expect assignment of T1 blocked
expect assignment of T1 waits for quota
goal g3 with task T3, assigned to auto-2
goal g4 with task T4, assigned to auto-3
auto-3 works
at 2h   expect assignment of T3 in g3 queued
expect assignment of T4 in g4 active
expect auto-1 was sent task 1 times
at 4h   expect nudge auto-1 #0
auto-1 is silent
at 5h30m expect assignment of T3 in g3 dispatched
expect auto-1 was sent again 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g3
expect no start of g3 before 5h20m
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g4
expect no start of g4 before 20m
