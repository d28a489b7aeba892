story "The end of a watched agent is told once, and it is not started again" proves RECOVER-06
fleet 1 hosts, lease 4m
agents auto-1
policy idle-after 15m, planner none, reassign allowed
goal g1 with task T1, assigned to tmux:%3
at 1m   tmux:%3 works
at 5m   tmux:%3 is silent
at 40m  expect question g1 "it is silent"
tmux:%3 ends by itself
at 41m  expect question g1 "it has ended"
expect g1 asks 1 questions
at 5h   expect g1 asks 1 questions
expect tmux:%3 was started 1 times
expect auto-1 was started 0 times
the person answers g1 with 2
at 5h1m expect g1 asks nothing
expect g1 has status completed
# what must not happen
expect no nudge, resend, reassignment, landing or doubt of g1
expect no stall or question of g1 before 20m
expect no stop of g1 before 40m
