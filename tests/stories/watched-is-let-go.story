story "Releasing a watched agent ends only the watching; no agent has to be configured for it" proves RECOVER-06
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to claude:4f0c
at 1m   claude:4f0c works
at 20m  expect assignment of T1 active
g1 is cancelled
at 21m  expect g1 has status cancelled
expect claude:4f0c was sent nudge 0 times
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 20m
