story "What is only watched is never nudged, moved or stopped, however silent: a person is asked" proves RECOVER-01 RECOVER-06
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 2, planner none, reassign allowed
goal g1 with task T1, assigned to tmux:%3
at 1m   tmux:%3 works
at 20m  expect assignment of T1 active
tmux:%3 is silent
at 60m  expect question g1 "it is silent"
expect assignment of T1 blocked
expect tmux:%3 was sent nudge 0 times
expect tmux:%3 was stopped 0 times
expect tmux:%3 was started 1 times
expect auto-1 was started 0 times
expect auto-2 was started 0 times
expect g1 has 4 ladder.skipped records
expect the last ladder.skipped of g1 says reason "it is only watched"
crash
at 8h   expect g1 asks 1 questions
expect tmux:%3 was sent nudge 0 times
expect tmux:%3 was stopped 0 times
expect tmux:%3 was started 1 times
# what must not happen
expect no nudge, resend, reassignment, stop, landing or doubt of g1
expect no stall of g1 before 35m
expect no question of g1 before 37m
