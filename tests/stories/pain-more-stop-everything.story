story "No way to stop everything at once: while stopped, no agent is nudged, started or replaced; resumed, work goes on" proves CLI-11
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   host 1 is told to stop the fleet
goal g2 with task T2, assigned to auto-1
at 3h   expect nudge auto-1 #0
expect auto-1 was started 1 times
host 1 is told to resume the fleet
at 4h   expect auto-1 was started 2 times
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall of g1 before 15m
expect no nudge of g1 before 3h
expect no question of g1 before 3h9m
expect no resend, reassignment, stop, landing or doubt of g2
expect no stall or nudge of g2 before 3h15m
expect no start of g2 before 5m
expect no question of g2 before 3h24m
