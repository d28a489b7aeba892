story "A question of the agent outlives a dialog that was answered at the terminal" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
at 6m    auto-1 shows a dialog
expect g1 asks 2 questions
auto-1 ends its turn
at 12m   expect g1 asks 1 questions
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
