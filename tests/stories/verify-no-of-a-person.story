story "What a person does not accept does not land, though it passed its checks" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, verify-by-person yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
landing says landed
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "T1 is done, says auto-1"
expect g1 has 0 work.landed records
the person answers g1 with 2
at 8m   expect g1 has 0 work.landed records
expect auto-1 was sent answer 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no check or question of g1 before 5m
