story "Who is answered while its checks failed hears both" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say failed
at 5m    hands are idle
auto-1 says done with commit abc
auto-1 asks a person "which database?"
at 6m    hands work
at 7m    expect assignment of T1 blocked
the person answers g1 with "the small one"
at 9m    expect auto-1 was sent failed 1 times
auto-1 ends its turn
at 14m   expect auto-1 was told "the small one"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no check or question of g1 before 5m
