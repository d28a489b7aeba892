story "An answer that certainly did not arrive is said again, and not lost" proves ESCALATE-14 RECOVER-12
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
the next words cannot be delivered
the person answers g1 with "the small one"
at 10m   expect auto-1 was told "the small one"
expect auto-1 was sent answer 2 times
# what must not happen
expect no nudge, resend, reassignment, stop, landing or doubt of g1
expect no stall or question of g1 before 5m
