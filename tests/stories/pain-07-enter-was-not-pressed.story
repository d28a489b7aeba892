story "Enter not submitted: what stands in its line is found not to have arrived, and is sent once more under the same id" proves RECOVER-10 TICK-18 ASSIGN-06
fleet 1 hosts, lease 4m
the next words are typed and not sent off
goal g1 with task T1, assigned to auto-1
at 2m   expect auto-1 was started 1 times
expect assignment of T1 dispatched
expect assignment of T1 has delivery accepted
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
