story "Whatever crashes after whichever request, each dispatch is made once" proves TICK-17
fleet 1 hosts, lease 4m
everybody crashes and starts again after each request
policy verify-by-person yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 says done with commit "1a2b"
at 6m   the person answers g1 with 1
at 12m  expect g1 is done
expect auto-1 was started 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop of g1 before 6m
expect no question of g1 before 5m
