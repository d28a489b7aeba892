story "The silence of a paused goal does not count: after it is resumed, no agent is nudged before a whole limit has passed"
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 10m    g1 is paused
at 2h10m  expect no stall, look, nudge, resend, replan, reassignment, start, send, stop or question of g1 from 10m to 2h10m shows GOAL-11.a
g1 is resumed
at 2h24m  expect no stall, look, nudge, resend, replan, reassignment, start, send, stop or question of g1 from 2h10m to 2h24m shows GOAL-11.b
at 2h26m  expect nudge auto-1 #1
expect no resend, reassignment, stop, landing, question or doubt of g1
