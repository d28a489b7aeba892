story "An agent that works is asked about once in its limit of silence, from what is known anyway; nothing of it is read"
fleet 1 hosts, lease 4m
policy idle-after 15m, tick-every 2m
goal g1 with task T1, assigned to auto-1
auto-1 works
at 16m  expect at most 1 listings of 1 agents each shows TICK-04
expect at most 0 looks shows TICK-04
at 1h   expect at most 4 listings of 1 agents each
expect no stall, look, nudge, resend, reassignment, stop, landing, question or doubt of g1
