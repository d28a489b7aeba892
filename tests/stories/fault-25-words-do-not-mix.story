story "Two agents that are started together hear each their own words" proves ASSIGN-20
fleet 1 hosts, lease 4m
agents auto-1, auto-2
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
expect auto-1 was told "T1"
expect auto-2 was told "T2"
expect auto-1 was started 1 times
expect auto-2 was started 1 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g2
