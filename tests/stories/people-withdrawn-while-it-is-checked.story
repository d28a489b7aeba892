story "Work whose question is withdrawn while it is checked does not wait forever" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say failed
at 5m    hands are idle
auto-1 says done with commit abc
auto-1 asks a person "which database?"
the person withdraws what g1 asks
at 6m    hands work
at 12m   expect assignment of T1 active
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no check or question of g1 before 5m
