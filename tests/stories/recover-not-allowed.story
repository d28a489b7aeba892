story "An agent that the policy does not allow gets no work, and the reason is on the record" proves RECOVER-05
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 1, reassign allowed, allow-agents auto-1
goal g1 with task T1, assigned to auto-1
at 60m  expect auto-2 was started 0 times
expect the last ladder.skipped of g1 says reason "no other agent may do it"
expect g1 asks 1 questions
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 17m
