story "While a person holds the landing lane nothing lands, and then everything does" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
the lane of host 1 is held
goal g1 with task T1, assigned to auto-1
goal g2 with task T1, assigned to auto-2
checks say passed
landing says landed
at 5m   auto-1 says done with commit abc
at 6m   auto-2 says done with commit abd
at 30m  expect g1 has 0 work.landed records
expect g2 has 0 work.landed records
expect auto-1 was sent nudge 0 times
expect g1 asks nothing
the lane of host 1 goes on
at 31m  expect T1 of g1 is done
expect T1 of g2 is done
expect g1 has 1 work.landed records
expect g2 has 1 work.landed records
expect no stall, nudge, resend, reassignment, question or doubt of g1
expect no landing of g1 before 30m
expect no landing of g2 before 30m
