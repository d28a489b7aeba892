story "An agent that does not start is explained at once, is tried again, and asks nothing once it works" proves ESCALATE-15 RECOVER-12
fleet 1 hosts, lease 20m
policy max-restarts 2, restart-window 6h, reassign forbidden
goal g1 with task T1, assigned to auto-1
auto-1 dies saying "it exited with status 1: no such file"
expect question g1 "T1: auto-1 does not start: it exited with status 1: no such file"
expect g1 asks 1 questions
expect assignment of T1 stalled
at 10m  expect auto-1 was started 2 times
auto-1 dies saying "it exited with status 1: no such file"
expect g1 asks 1 questions
at 30m  expect auto-1 was started 3 times
auto-1 works
at 40m  expect g1 asks 0 questions
auto-1 dies saying "it exited with status 137: killed"
expect g1 asks 1 questions
expect question g1 "died each time"
expect assignment of T1 blocked
expect no reassignment, landing or doubt of g1
