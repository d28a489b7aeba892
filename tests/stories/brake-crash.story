story "A host that is lost after it froze a run forgets neither the question nor the answer"
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m   the host freezes auto-1
crash
at 20m  expect question g1 "the disk is nearly full"
expect g1 has 1 run.braked records
the person answers g1 with 1
crash
at 22m  expect the last effect.decided of g1 says rule thaw
expect auto-1 was stopped 0 times
expect no nudge, resend, reassignment, landing or doubt of g1
