story "What is counted is stored beside what is said, and a report that cannot be read or assigned is refused" proves PROGRESS-01 PROGRESS-05
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 1m   auto-1 says how far it is in a form that cannot be read
auto-1 says how far the work of no assignment is
auto-1 says how far work is that is over
expect g1 has 0 agent.progress records
auto-1 is at "reading" and counts "files=3" and "of=ten"
expect g1 has 1 agent.progress records
expect the last agent.progress of g1 says text "reading (files=3, of=ten)"
expect assignment of T1 has percentComplete 0
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
