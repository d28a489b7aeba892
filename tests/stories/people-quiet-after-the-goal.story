story "No person is asked about work that is over" proves ESCALATE-15
fleet 1 hosts, lease 20m
channels desk desktop, tracker gitea
policy idle-after 15m, max-retries 1, reassign forbidden, say-again 30m
goal g1 with task T1, assigned to auto-1
at 2h   expect g1 asks 1 questions
g1 is cancelled because "not wanted"
expect g1 asks nothing
at 72h  expect at most 7 messages
# what must not happen
expect no resend, reassignment, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no stop of g1 before 2h
expect no question of g1 before 20m
