story "Work that fails its checks is begun anew once, also when hosts crash meanwhile, and then has failed" proves VERIFY-18 VERIFY-19 TEST-08
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1*retry_once, assigned to auto-1
checks say failed
at 5m   auto-1 says done with commit abc
crash
at 7m   expect auto-1 was sent again 1 times
expect auto-1 was told "This was tried before"
expect T1 of g1 is in_progress
expect g1 has 1 work.retried records
at 9m   auto-1 says done with commit abd
crash
at 11m  expect T1 of g1 is blocked
expect auto-1 was sent again 1 times
expect g1 has 1 work.retried records
expect g1 has 2 work.checked records
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop or check of g1 before 5m
expect no question of g1 before 9m
