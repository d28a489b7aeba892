story "A policy that starts at another rung starts there" proves ASSIGN-11
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, first-rung reassign, reassign allowed
goal g1 with task T1, assigned to auto-1
at 20m  expect auto-2 works on T1
expect nudge auto-1 #0
# what must not happen
expect no nudge, resend, landing, question or doubt of g1
expect no stall, reassignment or stop of g1 before 15m
