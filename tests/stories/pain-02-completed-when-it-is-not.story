story "Completed when it is not: where a person checks, an agent's word moves nothing" proves UPDATE-09 ESCALATE-14
fleet 1 hosts, lease 4m
policy verify-by-person yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 says done with commit "1a2b"
expect T1 of g1 is in_progress
expect assignment of T1 blocked
expect question g1 "T1 is done, says auto-1"
at 6m   the person answers g1 with 2
at 8m   expect T1 of g1 is in_progress; expect auto-1 was sent answer 1 times
at 20m  auto-1 says done with commit "3c4d"
expect question g1 "T1 is done, says auto-1"
at 21m  the person answers g1 with 1
at 23m  expect T1 of g1 is done
expect g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop of g1 before 21m
expect no question of g1 before 5m
