story "After the last retry a person is asked once, with a question; nothing is repeated for ever" proves RECOVER-06 RECOVER-08 ESCALATE-15
fleet 1 hosts, lease 20m
policy idle-after 15m, max-retries 2, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 2h   expect question g1 "no progress after 2 nudges"; expect g1 is "needs you"
at 72h  expect nothing
expect g1 has 1 question.asked records
expect nudge auto-1 #2
expect auto-1 was started 1 times
expect assignment of T1 blocked
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 25m
