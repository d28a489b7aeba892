story "A candidate whose target moved is built and checked again before it lands" proves VERIFY-22 AUTO-20
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
checks say passed
the next landing says moved
at 5m   auto-1 says done with commit abc
at 6m   expect T1 of g1 is done
expect g1 has 2 work.checked records
expect g1 has 1 work.not_landed records
expect g1 has 1 work.landed records
expect g1 asks nothing
expect auto-1 was sent failed 0 times
expect no stall, nudge, resend, reassignment, question or doubt of g1
expect no landing of g1 before 5m
