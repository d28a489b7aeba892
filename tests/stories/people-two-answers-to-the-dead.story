story "Both answers reach one who died meanwhile" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 1m
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
auto-1 asks a person "on Monday?"
expect g1 asks 2 questions
auto-1 dies
at 6m    the person answers Q1 of g1 with "the small one"
the person answers g1 with "on Tuesday"
at 9m    expect auto-1 was started 2 times
expect g1 asks nothing
at 10m   auto-1 ends its turn
at 14m   expect auto-1 was told "the small one"
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop or question of g1 before 5m
