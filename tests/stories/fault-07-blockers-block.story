story "An agent that names a blocker is blocked, no matter which status it reports" proves ASSIGN-07 RECOVER-13 UPDATE-02
fleet 1 hosts, lease 20m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 10m  auto-1 says that "the key for the mail service" is in the way
expect assignment of T1 blocked
expect question g1 "the key for the mail service"
at 72h  expect nothing
expect nudge auto-1 #0
expect g1 has 1 question.asked records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 10m
