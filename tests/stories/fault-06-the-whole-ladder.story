story "The ladder is climbed rung by rung, and what does not apply is skipped with a reason" proves RECOVER-01 RECOVER-03 RECOVER-05
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 2, planner none, reassign allowed
goal g1 with task T1, assigned to auto-1
at 15m  expect nudge auto-1 #1
at 22m  expect nudge auto-1 #2
at 40m  expect auto-2 works on T1
expect auto-1 was stopped 1 times
expect auto-2 was started 1 times
expect g1 has 2 ladder.skipped records
expect the last ladder.skipped of g1 says reason "there is no planner"
expect the plan of g1 to be "P1 in_progress, T1 in_progress"
expect g1 has 2 rows of assignment
at 3h   expect question g1 "no progress"
expect nudge auto-2 #2
expect auto-1 was started 1 times
# what must not happen
expect no resend, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no reassignment or stop of g1 before 24m
expect no question of g1 before 48m
