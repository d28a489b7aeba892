story "False stall kills a worker in a long tool call: inside a tool the limit is a longer one" proves TICK-08 TICK-11
fleet 1 hosts, lease 4m
policy idle-after 15m, idle-in-tool 60m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 opens a tool
at 60m  expect nudge auto-1 #0; expect g1 has 0 assignment.stalled records
auto-1 closes its tool
at 90m  expect assignment of T1 active
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
