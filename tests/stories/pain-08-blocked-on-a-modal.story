story "Blocked on a modal: a dialog is a question to a person, and nothing is typed into it" proves RECOVER-13
fleet 1 hosts, lease 20m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 10m  auto-1 shows a dialog
expect assignment of T1 blocked
expect question g1 "waits for a person"
at 48h  expect nothing
expect nudge auto-1 #0
the person answers g1 with "allow it"
at 49h  expect auto-1 was sent answer 1 times
expect auto-1 was told "allow it"
# what must not happen
expect no nudge, resend, reassignment, stop, landing or doubt of g1
expect no stall of g1 before 48h20m
expect no question of g1 before 10m
