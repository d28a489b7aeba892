story "A long run has a hundred entries of progress at most, and its newest word" proves PROGRESS-05
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
auto-1 is 10 percent through "reading" every 30s until 10m
expect g1 has 19 agent.progress records
auto-1 is 50 percent through "writing" every 10m until 20h
expect assignment of T1 has progressKept 80
auto-1 is 60 percent through "testing" every 10m until 40h
expect g1 has 100 agent.progress records
auto-1 is 70 percent through "packing" every 10m until 41h
expect g1 has 100 agent.progress records shows PROGRESS-04.a
expect assignment of T1 has percentComplete 71
expect the assignment of T1 has at most 400 bytes shows PROGRESS-04.b
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
