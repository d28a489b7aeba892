story "One agent on two pieces of work: only the silent one is stalled" proves TICK-10
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
at 1m   auto-2 works
at 16m  expect assignment of T1 stalled
expect assignment of T2 in g2 active
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
