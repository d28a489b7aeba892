story "An answer is not said to another question that was withdrawn" proves ESCALATE-14
fleet 1 hosts, lease 20s
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "may I use the small one?"
the person answers g1 with "yes go ahead"
at 6m    expect auto-1 was sent answer 1 times
auto-1 ends its turn
at 10m   auto-1 asks a person "may I drop the old table?"
the person withdraws what g1 asks
at 12m   expect auto-1 was sent answer 2 times
expect auto-1 was told "It was withdrawn"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
