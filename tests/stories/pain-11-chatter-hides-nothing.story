story "Log chatter hides a stall: it puts it off, and not for longer than it may" proves TICK-09
fleet 1 hosts, lease 4m
policy idle-after 15m, chatter-most 15m
goal g1 with task T1, assigned to auto-1
at 2m   auto-1 chatters
at 27m  expect assignment of T1 dispatched
at 33m  expect assignment of T1 stalled; expect nudge auto-1 #1
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 31m
