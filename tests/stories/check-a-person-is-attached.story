story "Who sits at an agent's terminal is asked about what failed; nothing is typed beside them" proves VERIFY-22 RECOVER-14
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say failed
at 4m   a person attaches to auto-1
at 5m   auto-1 says done with commit abc
at 8m   expect auto-1 was sent failed 0 times
expect g1 asks 1 questions
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no check or question of g1 before 5m
