story "Work goes to the agent that the plan names" proves ASSIGN-20 ASSIGN-02
fleet 1 hosts, lease 4m
agents auto-1 as coder, auto-2 as reviewer
goal g1 with task T1, assigned to auto-2
expect auto-2 was started 1 times
expect auto-1 was started 0 times
expect auto-2 works on T1
expect assignment of T1 dispatched
expect g1 has 1 assignment.queued records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
