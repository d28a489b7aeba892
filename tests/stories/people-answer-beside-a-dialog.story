story "An answer to one who stands before a dialog is said after the dialog was answered, and not lost" proves ESCALATE-14 RECOVER-13 REQUEST-01
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
at 6m    auto-1 shows a dialog
expect g1 asks 2 questions
the person answers Q1 of g1 with "the small one"
at 8m    expect auto-1 was sent answer 0 times
expect assignment of T1 blocked
expect g1 asks 1 questions
crash
the person answers g1 with "allow it"
at 10m   expect auto-1 was told "allow it"
expect auto-1 was sent answer 1 times
auto-1 ends its turn
at 12m   expect auto-1 was told "the small one"
expect auto-1 was sent answer 2 times
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
