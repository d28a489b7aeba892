story "Host death: what died with it is noticed after the restart and started once, each with its pause" proves TICK-17 RECOVER-12
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 10m  crash host 1
auto-1 dies unseen
at 40m  start host 1
at 70m  expect auto-1 was started 2 times
# what must not happen
expect no reassignment, landing, question or doubt of g1
expect no stall or stop of g1 before 40m
expect no nudge of g1 before 57m
expect no resend of g1 before 42m
