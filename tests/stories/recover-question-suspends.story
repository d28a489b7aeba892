story "While a question of an agent is open its ladder stands still" proves RECOVER-14
fleet 1 hosts, lease 20m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 10m  auto-1 asks a person "which of the two?"
at 24h  expect nudge auto-1 #0
expect g1 asks 1 questions
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 10m
