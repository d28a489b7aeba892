story "Work that fails its checks and may not be mended has failed, and says which checks" proves VERIFY-16
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1*fail, assigned to auto-1
checks say failed
at 5m   auto-1 says done with commit abc
at 6m   expect T1 of g1 is blocked
expect auto-1 was sent failed 0 times
expect question g1 "T1 has failed"
expect the last work.blocked of T1 of g1 says reason "what it calls done does not pass its checks"
at 2h   expect T1 of g1 is blocked
T1 of g1 is wanted once more
checks say passed
expect g1 asks nothing
at 121m auto-1 says done with commit abd
at 122m expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop, check or question of g1 before 5m
