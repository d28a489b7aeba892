story "A yes that was not heard is said again, before anything else" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
at 6m    auto-1 shows a dialog
the person answers Q1 of g1 with "the small one"
at 8m    expect assignment of T1 blocked
the next words cannot be delivered
the person answers g1 with "allow it"
at 9m    expect auto-1 was sent answer 1 times
at 20m   expect auto-1 was told "allow it"
# what must not happen
expect no nudge, resend, reassignment, stop, landing or doubt of g1
expect no stall of g1 before 8m
expect no question of g1 before 5m
