story "A person who agreed to a change is shown the new one before it lands, if it looks different" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, verify-by-person yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
each candidate looks different
the next landing says moved
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "T1 is done, says auto-1"
the person answers g1 with 1
at 7m   expect question g1 "T1 is done, says auto-1"
expect g1 has 0 work.landed records
expect g1 has 2 work.checked records
the person answers g1 with 1
at 9m   expect T1 of g1 is done
expect g1 has 1 work.landed records
expect g1 has 2 work.checked records
expect no stall, nudge, resend, reassignment or doubt of g1
expect no work.landed of g1 before 7m
