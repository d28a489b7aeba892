story "A tool that never returns is stalled at its own limit" proves TICK-11
fleet 1 hosts, lease 4m
policy idle-after 15m, idle-in-tool 60m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 opens a tool
at 64m  expect g1 has 0 assignment.stalled records
at 68m  expect g1 has 1 assignment.stalled records
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 1h6m
