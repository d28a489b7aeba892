story "What an agent calls done is done when its checks pass and it has landed" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
checks say passed
landing says landed
at 5m   auto-1 says done without evidence
at 6m   expect T1 of g1 is done
expect g1 has 1 work.checked records
expect g1 has 1 work.landed records
expect the last work.done of T1 of g1 says reason "verified"
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, question or doubt of g1
expect no stop, check or landing of g1 before 5m
