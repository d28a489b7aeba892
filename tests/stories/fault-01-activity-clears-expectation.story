story "Activity clears the time at which an agent promised to report" proves TICK-12 TICK-14
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 1m   auto-1 reports "reading" and will be heard of in 3m
at 2m   auto-1 works
at 20m  expect assignment of T1 active; expect nudge auto-1 #0
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
