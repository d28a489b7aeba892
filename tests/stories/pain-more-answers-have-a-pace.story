story "However much is answered at once: no more than the policy says is done in a minute" proves TICK-25
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s, actions-per-minute 4
agents auto-1, auto-2, auto-3, auto-4, auto-5, auto-6
goal g1 with task T1, assigned to auto-1
goal g2 with task T1, assigned to auto-2
goal g3 with task T1, assigned to auto-3
goal g4 with task T1, assigned to auto-4
goal g5 with task T1, assigned to auto-5
goal g6 with task T1, assigned to auto-6
at 5m    auto-1 says that "which?" is in the way
auto-2 says that "which?" is in the way
auto-3 says that "which?" is in the way
auto-4 says that "which?" is in the way
auto-5 says that "which?" is in the way
auto-6 says that "which?" is in the way
at 8m    the person answers g1 with "this"
the person answers g2 with "this"
the person answers g3 with "this"
the person answers g4 with "this"
the person answers g5 with "this"
the person answers g6 with "this"
at 8m    expect auto-1 was sent answer 1 times
expect auto-6 was sent answer 0 times
at 10m   expect auto-1 was sent answer 1 times
expect auto-2 was sent answer 1 times
expect auto-5 was sent answer 1 times
expect auto-6 was sent answer 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g2
expect no start of g2 before 45s
expect no question of g2 before 5m
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g3
expect no start of g3 before 15s
expect no question of g3 before 5m
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g4
expect no start of g4 before 1m
expect no question of g4 before 5m
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g5
expect no start of g5 before 1m15s
expect no question of g5 before 5m
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g6
expect no start of g6 before 30s
expect no question of g6 before 5m
