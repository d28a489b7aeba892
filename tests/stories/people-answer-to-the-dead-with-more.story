story "Who died with something unheard is begun anew when it is answered" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 60m, undo-for 0s, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say failed
at 5m    hands are idle
auto-1 says done with commit abc
auto-1 asks a person "which database?"
at 6m    hands work
at 7m    expect assignment of T1 blocked
auto-1 dies
at 8m    the person answers g1 with "the small one"
at 10m   expect auto-1 was started 2 times
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop of g1 before 7m
expect no check or question of g1 before 5m
