story "A nudge that was lost is said again; the task is not" proves RECOVER-01 RECOVER-03
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 2
goal g1 with task T1, assigned to auto-1
at 4m    auto-1 is silent
at 18m   expect auto-1 was sent nudge 1 times
the next words cannot be delivered
at 70m   expect auto-1 was sent task 1 times
expect auto-1 was sent nudge 3 times
# what must not happen
expect no reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no resend of g1 before 24m
expect no question of g1 before 34m
