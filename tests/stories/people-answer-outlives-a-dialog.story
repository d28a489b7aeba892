story "An answer given before a dialog was answered at the terminal is not lost" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 1m
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
at 6m    auto-1 shows a dialog
expect g1 asks 2 questions
the person answers Q1 of g1 with "the small one"
auto-1 ends its turn
at 12m   expect auto-1 was told "the small one"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
