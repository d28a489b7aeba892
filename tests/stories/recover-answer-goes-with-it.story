story "What a person answers goes with the next instruction, and the work goes on" proves ESCALATE-14 RECOVER-13
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 says that "tabs or spaces?" is in the way
expect assignment of T1 blocked
at 60m  the person answers g1 with "spaces, please"
at 62m  expect auto-1 was sent answer 1 times
expect auto-1 was told "spaces, please"
expect g1 asks nothing
auto-1 reports "going on"
expect assignment of T1 active
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
