story "The clock leaps by a year: no agent is stalled for it" proves TICK-11
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 6m   the clock leaps by 8000h
wait 10m
expect nudge auto-1 #0
expect g1 has 0 assignment.stalled records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
