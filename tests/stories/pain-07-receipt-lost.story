story "A receipt that was lost is found by looking: nothing is sent a second time" proves RECOVER-10
fleet 1 hosts, lease 4m
the receipt of the next words is lost
goal g1 with task T1, assigned to auto-1
at 2m   expect auto-1 was started 1 times
expect auto-1 was sent task 1 times
expect assignment of T1 has delivery accepted
expect g1 has 2 rows of dispatch
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
