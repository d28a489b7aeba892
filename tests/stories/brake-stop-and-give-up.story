story "Of a run that the host froze a person may also say that it ends: it begins again, or is given up"
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m   the host freezes auto-1
the person answers g1 with 2
at 6m   expect auto-1 was stopped 1 times
at 10m  expect auto-1 was started 2 times
the host freezes the run of auto-1 before
at 11m  expect g1 has 1 run.braked records
at 12m  the host freezes auto-1
the person answers g1 with 3
at 13m  expect auto-1 was stopped 2 times
expect T1 of g1 is cancelled
at 30m  expect auto-1 was started 2 times
expect no nudge, resend, reassignment, landing or doubt of g1
