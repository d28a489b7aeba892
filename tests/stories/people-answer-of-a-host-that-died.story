story "An answer whose host died before it was said is not lost" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
auto-1 hangs in its turn
hands are idle
the person answers g1 with "the small one"
crash
hands work
at 7m    auto-1 works
auto-1 ends its turn
at 15m   auto-1 works
auto-1 ends its turn
at 25m   auto-1 works
auto-1 ends its turn
at 30m   expect the last dispatch.doubted of g1 says rule dispatch.doubt
expect auto-1 was told "the small one"
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, stop or landing of g1
expect no question of g1 before 5m
