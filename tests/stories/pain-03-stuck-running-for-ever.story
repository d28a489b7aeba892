story "Stuck running forever: a process that is gone is noticed although its end was not reported" proves TICK-08 TICK-09
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 10m  auto-1 dies unseen
at 20m  expect auto-1 was started 2 times
expect g1 has 1 assignment.stalled records
expect the last assignment.stalled of g1 says rule "agent.gone"
# what must not happen
expect no nudge, reassignment, landing, question or doubt of g1
expect no stall or stop of g1 before 15m
expect no resend of g1 before 17m
