story "The last piece of work is called off while its agent works: the agent is stopped, and then the goal is over" proves TICK-08
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
g1 is planned as "P1(T1 T2)"
T2 of g1 is done because "I did it myself"
at 3m   T1 of g1 is cancelled because "not needed"
at 4m   expect T1 of g1 is cancelled
expect g1 has 0 goal.quarantined records
at 5m   expect g1 has 1 goal.completed records
expect auto-1 was stopped 2 times
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
