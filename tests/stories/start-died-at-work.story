story "An agent that dies in the middle of its work is started again, and no person is asked about its start" proves RECOVER-12
fleet 1 hosts, lease 20m
policy max-restarts 2, restart-window 6h, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 1m   auto-1 works
at 10m  auto-1 dies saying "it exited with status 137: killed"
expect g1 asks 0 questions
at 30m  expect auto-1 was started 2 times
expect no reassignment, landing, question or doubt of g1
