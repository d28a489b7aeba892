story "Sent is not at work: without progress it stays dispatched" proves ASSIGN-06
fleet 1 hosts, lease 4m
policy idle-after 60m
goal g1 with task T1, assigned to auto-1
at 50m  expect assignment of T1 dispatched
auto-1 works
at 90m  expect assignment of T1 active
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
