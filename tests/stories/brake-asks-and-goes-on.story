story "A run that the host froze waits for a person, is not nudged, and goes on by an answer"
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m   the host freezes auto-1
at 6m   expect question g1 "the disk is nearly full"
expect assignment of T1 blocked
at 2h   expect g1 has 1 run.braked records
expect g1 has 1 question.asked records
expect g1 has 0 assignment.stalled records
expect auto-1 was stopped 0 times
expect auto-1 was sent nudge 0 times
expect the last effect.decided of g1 says rule spawn
the person answers g1 with 1
at 121m expect the last effect.decided of g1 says rule thaw
expect assignment of T1 active
expect auto-1 was started 1 times
expect auto-1 was stopped 0 times
at 125m the host freezes auto-1
at 126m expect g1 has 2 question.asked records
expect no nudge, resend, reassignment, landing or doubt of g1
