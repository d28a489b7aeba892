story "Fourteen minutes of silence are none, fifteen are" proves TICK-11
fleet 1 hosts, lease 4m
policy idle-after 15m, tick-every 2m
goal g1 with task T1, assigned to auto-1
at 14m  expect assignment of T1 dispatched
at 15m  expect assignment of T1 stalled
expect the last assignment.stalled of g1 says rule "agent.silent"
expect the last assignment.stalled of g1 says threshold 900000000
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
