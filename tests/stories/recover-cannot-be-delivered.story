story "What certainly was not delivered is an error on the record, and is tried again after a pause" proves RECOVER-12
fleet 1 hosts, lease 4m
the next words cannot be delivered
goal g1 with task T1, assigned to auto-1
expect auto-1 was started 0 times
expect assignment of T1 stalled
expect assignment of T1 has delivery error
at 10m  expect auto-1 was started 1 times
expect assignment of T1 has delivery accepted
# what must not happen
expect no nudge, reassignment, landing, question or doubt of g1
expect no resend of g1 before 2m
