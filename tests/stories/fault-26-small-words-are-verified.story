story "A nudge of one line that was typed and not sent off is looked for, and sent again under its old id" proves RECOVER-10 TICK-18
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 14m  the next words are typed and not sent off
at 15m  expect auto-1 was sent nudge 2 times
expect g1 has 1 assignment.stalled records
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
