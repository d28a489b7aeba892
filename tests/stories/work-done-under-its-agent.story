story "A person calls the last piece of work done while its agent works: the agent is stopped, and then the goal is over" proves TICK-08
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 2m   T1 of g1 is done because "I did it myself"
at 3m   expect T1 of g1 is done
expect g1 has 0 goal.quarantined records
at 4m   expect auto-1 was stopped 1 times
expect g1 has 1 goal.completed records
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 2m
