story "No agent of a paused goal is nudged; after it is resumed, silence counts again" proves RECOVER-14
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   g1 is paused
at 3h   expect nudge auto-1 #0
g1 is resumed
at 4h   expect nudge auto-1 #2
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 3h
expect no question of g1 before 3h9m
