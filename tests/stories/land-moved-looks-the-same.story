story "A person who agreed to a change is not asked again if the new candidate looks the same; it is checked again all the same" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, verify-by-person yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
the next landing says moved
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "T1 is done, says auto-1"
the person answers g1 with 1
at 7m   expect T1 of g1 is done
expect g1 has 2 work.checked records
expect g1 has 1 work.landed records
expect g1 has 1 question.asked records
expect no stall, nudge, resend, reassignment or doubt of g1
expect no landing of g1 before 6m
