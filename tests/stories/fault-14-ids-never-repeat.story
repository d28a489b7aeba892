story "Every start and every send has an id of its own, also when a person wants it once more" proves RECOVER-11 ASSIGN-12
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   T1 of g1 is wanted once more because "I changed the input"
at 6m   expect auto-1 was started 2 times
expect auto-1 was stopped 1 times
expect g1 has 2 rows of dispatch
expect T1 of g1 is in_progress
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 5m
