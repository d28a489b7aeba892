story "The clock steps back by a year: new work begins at once, and the step is on record" proves TICK-11
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
the clock steps back by 8760h
wait 1m
expect g1 has 1 clock.stepped records
goal g2 with task T2, assigned to auto-2
wait 30s
expect auto-2 was started 1 times
expect g1 has 0 assignment.stalled records
expect nudge auto-1 #0
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
