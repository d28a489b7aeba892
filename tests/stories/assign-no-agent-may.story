story "Work that no agent may do is asked about, and begins once one may" proves POLICY-01 ASSIGN-20
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, allow-agents another-agent
agents auto-1
goal g1 with task T1
at 1m   expect question g1 "no agent may work on it"
expect g1 asks 1 questions
expect auto-1 was started 0 times
at 2h   expect g1 asks 1 questions
the person answers g1 with "look again"
expect g1 asks 1 questions
policy idle-after 15m, undo-for 0s, allow-agents auto-1
the person answers g1 with "look again"
at 121m expect auto-1 was started 1 times
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no start of g1 before 2h
