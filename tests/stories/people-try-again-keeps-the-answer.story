story "Try again does not replace an answer that no agent has received" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s, max-restarts 0
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
hands are idle
the person answers g1 with "the small one"
auto-1 dies
hands work
at 20m   expect g1 asks 1 questions
the person answers g1 with "try again"
at 21m   expect auto-1 was started 2 times
expect auto-1 was told "the small one"
# what must not happen
expect no nudge, resend, reassignment, landing or doubt of g1
expect no stall, stop or question of g1 before 5m
