story "A person's answer about an agent that cannot be observed is carried out after a few looks" proves RECOVER-11 ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 1, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 is silent
at 100m  expect g1 asks 1 questions
at 101m  auto-1 cannot be observed
at 102m  the person answers g1 with "1"
at 102m  expect auto-1 was stopped 0 times
at 115m  expect auto-1 was stopped 1 times
expect auto-1 was started 2 times
# what must not happen
expect no resend, reassignment, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no stop of g1 before 1h46m
expect no question of g1 before 17m
