story "The landing lane survives a crash of its host, and nothing lands twice" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
goal g2 with task T1, assigned to auto-2
the lane of host 1 is held
checks say passed
landing says landed
at 5m   auto-1 says done with commit abc
auto-2 says done with commit abd
at 6m   crash
at 10m  expect g1 has 0 work.landed records
the lane of host 1 goes on
at 30m  expect T1 of g1 is done
expect T1 of g2 is done
expect g1 has 1 work.landed records
expect g2 has 1 work.landed records
expect no resend, reassignment, question or doubt of g1
expect no landing of g1 before 10m
expect no landing of g2 before 10m
