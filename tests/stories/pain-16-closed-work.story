story "Restart onto closed work: an agent that works on what is over is stopped, and not started again" proves ASSIGN-05
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   g1 is cancelled because "not needed"
at 6m   expect auto-1 was stopped 1 times
crash
at 2h   expect auto-1 was started 1 times
expect assignment of T1 cancelled
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 5m
