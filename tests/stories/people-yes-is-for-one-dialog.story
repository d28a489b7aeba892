story "A yes to one dialog is not a yes to the next" proves ESCALATE-14 RECOVER-13
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 2m
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 shows a dialog
expect g1 asks 1 questions
the person answers g1 with "allow it"
auto-1 ends its turn
at 6m    auto-1 shows a dialog
expect g1 asks 1 questions
at 10m   expect auto-1 was sent answer 0 times
expect g1 asks 1 questions
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
