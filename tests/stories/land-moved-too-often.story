story "A candidate whose target moves each time is built again a bounded number of times, and then a person is asked" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, land-rechecks 3, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
landing says moved
at 5m   auto-1 says done with commit abc
at 8m   expect question g1 "its target moved each time that it was to land"
expect g1 has 4 work.checked records
expect g1 has 4 work.not_landed records
expect g1 has 0 work.landed records
expect T1 of g1 is in_progress
landing says landed
the person answers g1 with "1"
at 12m  expect T1 of g1 is done
expect g1 has 1 work.landed records
expect no stall, nudge, resend, reassignment or doubt of g1
expect no work.landed of g1 before 8m
