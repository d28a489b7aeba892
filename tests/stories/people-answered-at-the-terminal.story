story "Who says yes in the agent's own terminal need not say it again: the question goes with the turn that asked it" proves RECOVER-13
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say passed
at 5m   auto-1 shows a dialog
expect g1 asks 1 questions
expect assignment of T1 blocked
at 7m   auto-1 says done with commit abc
auto-1 ends its turn
at 8m   expect g1 asks nothing
expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop or check of g1 before 7m
expect no question of g1 before 5m
