story "A pause holds the ladder and a promise: neither a nudge that was due nor a missed word follows at once when it goes on"
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 2, backoff 2m..30m, min-resend 5m, planner none, reassign forbidden
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
at 10m    auto-2 reports "nearly there" and will be heard of in 3m
at 11m    g2 is paused
at 15m    expect nudge auto-1 #1
at 16m    g1 is paused
at 2h     expect no stall, look, nudge, resend, replan, reassignment, start, send, stop or question from 16m to 2h shows GOAL-11.a
g1 is resumed
g2 is resumed
at 2h14m  expect no stall, look, nudge, resend, replan, reassignment, start, send, stop or question from 2h to 2h14m shows GOAL-11.b
at 2h17m  expect nudge auto-1 #2
expect nudge auto-2 #1
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall of g2 before 2h15m
