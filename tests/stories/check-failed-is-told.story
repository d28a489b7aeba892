story "What the checks say goes back to the agent, who mends it" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say failed
at 5m   auto-1 says done with commit abc
at 6m   expect auto-1 was sent failed 1 times
expect auto-1 was told "in a clean checkout"
auto-1 reports "mending"
checks say passed
at 9m   auto-1 says done with commit abd
at 10m  expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 9m
expect no check of g1 before 5m
