story "A watched agent that goes on by itself is asked about no more; a person who wants it watched on does not touch it" proves RECOVER-06
fleet 1 hosts, lease 4m
policy idle-after 15m, planner none
goal g1 with task T1, assigned to claude:4f0c
at 1m   claude:4f0c works
at 2m   claude:4f0c is silent
at 40m  expect question g1 "it is silent"
at 41m  claude:4f0c works
at 50m  expect g1 asks nothing
expect assignment of T1 active
claude:4f0c is silent
at 100m expect question g1 "it is silent"
the person answers g1 with 1
at 105m expect g1 asks nothing
expect assignment of T1 active
at 150m expect question g1 "it is silent"
expect claude:4f0c was started 1 times
expect claude:4f0c was stopped 0 times
expect claude:4f0c was sent nudge 0 times
# what must not happen
expect no nudge, resend, reassignment, stop, landing or doubt of g1
expect no stall or question of g1 before 17m
