story "Work that fails its checks is a question where a person is to hear of it" proves VERIFY-17 VERIFY-16
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no, undo-for 0s
goal g1 with task T1*escalate, assigned to auto-1
checks say failed
at 5m   auto-1 says done with commit abc
at 6m   expect T1 of g1 is blocked
expect question g1 "T1 has failed"
the person answers g1 with 1
at 8m   expect T1 of g1 is in_progress
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop, check or question of g1 before 5m
