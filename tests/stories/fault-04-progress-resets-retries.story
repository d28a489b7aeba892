story "Progress takes back every retry: the next silence begins at the first rung" proves TICK-13 RECOVER-09
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 2
goal g1 with task T1, assigned to auto-1
at 15m  expect assignment of T1 has retries 1
at 16m  auto-1 reports "I was compiling"
expect assignment of T1 active
expect assignment of T1 has retries 0
expect assignment of T1 has backoffUntil 0
at 31m  expect nudge auto-1 #2; expect assignment of T1 has retries 1
at 32m  auto-1 reports "again"
at 47m  expect nudge auto-1 #3; expect g1 asks nothing
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
