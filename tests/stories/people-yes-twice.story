story "Who is asked two things and says yes to both has said it twice" proves ESCALATE-14 REQUEST-01 TICK-23
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "the small one?"
auto-1 asks a person "on Monday?"
expect g1 asks 2 questions
the person answers g1 with "yes"
the person answers g1 with "yes"
at 6m    expect g1 asks nothing
auto-1 ends its turn
at 8m    expect auto-1 was sent answer 2 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
