story "A denial is terminal: it is asked for once, and a person decides" proves ESCALATE-14
fleet 1 hosts, lease 20m
agents auto-1 reserve 5000
budget fleet money 1000
goal g1 with task T1, assigned to auto-1
at 20m  expect auto-1 was started 0 times
expect question g1 "may not go on"
expect T1 of g1 is blocked
at 24h  expect nothing
expect g1 has 1 assignment.denied records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
