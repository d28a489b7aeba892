story "Work that conflicts with what others did goes back to its agent before anything is checked, and lands afterwards" proves AUTO-21
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
checks say conflict
landing says landed
at 5m   auto-1 says done with commit abc
at 6m   expect auto-1 was sent conflict 1 times
expect T1 of g1 is in_progress
expect g1 has 0 work.landed records
expect g1 asks nothing
checks say passed
at 9m   auto-1 says done with commit abd
at 10m  expect T1 of g1 is done
expect g1 has 2 work.checked records
expect g1 has 1 work.landed records
expect auto-1 was sent conflict 1 times
expect no stall, nudge, resend, reassignment or doubt of g1
expect no landing of g1 before 9m
