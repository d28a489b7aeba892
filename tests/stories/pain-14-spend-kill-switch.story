story "No spend kill-switch: what was reserved is charged, and when it is used up nothing more begins" proves ESCALATE-14
fleet 1 hosts, lease 4m
agents auto-1 reserve 600
budget fleet money 1000
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-1
at 5m   expect auto-1 was started 1 times
expect assignment of T2 in g2 queued
at 6m   auto-1 spends 900
at 7m   auto-1 says done with commit "1a2b"
at 15m  expect auto-1 was started 1 times
expect question g2 "may not go on"
at 24h  expect auto-1 was started 1 times
expect g2 has 1 question.asked records
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 7m
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g2
expect no question of g2 before 6m
