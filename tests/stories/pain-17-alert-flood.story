story "Alert floods: one cause is one question, said again with longer and longer pauses, and not for ever" proves ESCALATE-15
fleet 1 hosts, lease 20m
channels desk desktop, tracker gitea
policy idle-after 15m, max-retries 1, reassign forbidden, say-again 30m, say-again-most 8h, say-most 4
goal g1 with task T1, assigned to auto-1
at 2h   expect g1 asks 1 questions
at 72h  expect at most 8 messages
expect channel desk was given 4 messages
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 20m
