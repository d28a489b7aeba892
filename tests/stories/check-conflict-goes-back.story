story "What does not fit what others did goes back to the agent, and lands afterwards" proves AUTO-21
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
checks say passed
landing says conflict
at 5m   auto-1 says done with commit abc
at 6m   expect auto-1 was sent conflict 1 times
expect T1 of g1 is in_progress
landing says landed
at 9m   auto-1 says done with commit abd
at 10m  expect T1 of g1 is done
expect g1 has 2 work.checked records
