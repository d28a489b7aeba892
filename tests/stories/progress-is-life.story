story "An agent that reports its progress has not fallen silent" proves PROGRESS-09 TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 10m  auto-1 is 10 percent through "reading"
at 20m  auto-1 is 20 percent through "reading"
at 30m  auto-1 is 30 percent through "writing"
at 44m  expect g1 has 0 assignment.stalled records; expect assignment of T1 active
at 45m  expect assignment of T1 stalled; expect nudge auto-1 #1
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 45m
