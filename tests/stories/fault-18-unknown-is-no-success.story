story "An unknown outcome is not recorded as a success, and nothing is sent a second time for it" proves RECOVER-10
fleet 1 hosts, lease 4m
policy idle-after 15m, reassign allowed
agents auto-1, auto-2
no agent can be observed
the receipt of the next words is lost
goal g1 with task T1, assigned to auto-1
at 10m  expect auto-1 was started 1 times
expect assignment of T1 has delivery timeout
at 5h   expect auto-1 was started 1 times
expect auto-2 was started 0 times
expect g1 asks 1 questions
# what must not happen
expect no nudge, resend, reassignment, stop, landing or doubt of g1
expect no stall of g1 before 17m
expect no question of g1 before 19m
