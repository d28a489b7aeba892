story "An agent that promised to report in three minutes and does not is stalled then, long before it is idle" proves TICK-12
fleet 1 hosts, lease 4m
policy idle-after 15m, tick-every 1m
goal g1 with task T1, assigned to auto-1
at 1m   auto-1 reports "reading" and will be heard of in 3m
at 3m   expect assignment of T1 active
at 5m   expect assignment of T1 stalled; expect nudge auto-1 #1
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 4m
