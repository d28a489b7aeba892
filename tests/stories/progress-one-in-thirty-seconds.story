story "One report of progress in thirty seconds is stored, also when hosts restart meanwhile" proves PROGRESS-03 PROGRESS-05
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 60s  auto-1 is 10 percent through "reading"
at 70s  auto-1 is 20 percent through "writing"
expect g1 has 1 agent.progress records
expect assignment of T1 has percentComplete 11
at 80s  auto-1 is 30 percent through "writing"
expect assignment of T1 has percentComplete 11
at 90s  auto-1 is 40 percent through "writing"
expect g1 has 2 agent.progress records
expect assignment of T1 has percentComplete 41
expect the last agent.progress of g1 says text "writing"
expect the last agent.progress of g1 says to "40 %"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
