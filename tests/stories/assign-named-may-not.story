story "A named agent that may not work is not replaced by another one: a person is asked" proves POLICY-01 ASSIGN-20
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, allow-agents auto-1
agents auto-1, auto-2
goal g1 with task T1, assigned to auto-2
at 1m   expect question g1 "no agent may work on it"
expect auto-1 was started 0 times
expect auto-2 was started 0 times
policy idle-after 15m, undo-for 0s, allow-agents auto-2
the person answers g1 with "look again"
at 2m   expect auto-2 was started 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no start of g1 before 1m
