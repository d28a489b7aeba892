story "What is called off while it is checked is not done, and nobody is told anything" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
checks say passed
landing says landed
at 5m   hands are idle
auto-1 says done with commit abc
g1 is cancelled
hands work
at 8m   expect g1 has 0 work.landed records
expect g1 has 0 work.done records
expect auto-1 was sent failed 0 times
