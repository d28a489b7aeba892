story "What passed and did not get home is asked about, and a person's again lands it, without making it anew" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
landing says pushed
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "its pull request could not be opened"
expect g1 has 0 work.landed records
expect g1 has 1 work.not_landed records
landing says landed
the person answers g1 with 1
at 8m   expect T1 of g1 is done
expect g1 has 1 work.checked records
expect g1 has 1 work.landed records
# what must not happen
expect no stall, nudge, resend, reassignment or doubt of g1
expect no stop of g1 before 6m
expect no check, landing or question of g1 before 5m
