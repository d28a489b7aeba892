story "The clock was a year ahead and the host restarts: what was stored then does not hold anything up" proves TICK-11
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m
the clock steps ahead by 8760h
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
the clock steps back by 8760h
crash
goal g2 with task T2, assigned to auto-2
wait 1m
expect auto-2 was started 1 times
wait 10m
expect nudge auto-1 #0
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
