story "An agent that says done with nothing done is caught, told so, and then a person is asked" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, check-rounds 2, min-resend 0s
goal g1 with task T1, assigned to auto-1
checks say unchanged
at 5m   auto-1 says done with commit abc
expect T1 of g1 is in_progress
at 6m   expect auto-1 was sent failed 1 times
auto-1 says done with commit abc
at 7m   expect auto-1 was sent failed 2 times
auto-1 says done with commit abc
at 8m   expect auto-1 was sent failed 2 times
expect question g1 "it says done and has changed nothing"
expect T1 of g1 is in_progress
expect g1 has 0 work.done records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no check of g1 before 5m
expect no question of g1 before 7m
