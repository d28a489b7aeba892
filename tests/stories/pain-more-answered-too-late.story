story "What a person answers about a silent agent is not done to one that has gone on meanwhile" proves RECOVER-14 TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 1, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 is silent
at 100m  expect g1 asks 1 questions
at 101m  auto-1 cannot be observed
at 102m  auto-1 works
at 103m  the person answers g1 with "1"
at 103m  expect auto-1 was stopped 0 times
at 104m  auto-1 can be seen
at 110m  expect auto-1 was stopped 0 times
expect auto-1 was started 1 times
expect assignment of T1 active
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 17m
