story "An agent whose process ends after its word is checked all the same, and not started again" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say passed
at 5m   auto-1 says done with commit abc
auto-1 dies
at 6m   expect T1 of g1 is done
expect auto-1 was started 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop or check of g1 before 5m
