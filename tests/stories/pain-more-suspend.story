story "The laptop sleeps for a night: afterwards every agent is observed before anything is done" proves TICK-11
fleet 1 hosts, lease 20m
agents auto-1, auto-2
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
at 5m   auto-1 works
auto-2 works
sleep 8h
at 8h15m  expect nothing
at 9h     expect nudge auto-1 #0
expect nudge auto-2 #0
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
