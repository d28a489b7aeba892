story "Each nudge waits twice as long as the one before, up to half an hour" proves TICK-22 RECOVER-09 TEST-02
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 6, max-attempts 20, tick-every 1m, backoff 2m..30m, min-resend 0s, planner none, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 00:00  auto-1 reports "parsing done"
at 15m    expect nudge auto-1 #1
at 16m    expect nudge auto-1 #1 shows RECOVER-02
at 18m    expect nudge auto-1 #2
at 20m    expect nudge auto-1 #2 shows RECOVER-02
at 22m    expect nudge auto-1 #3
at 28m    expect nudge auto-1 #3 shows RECOVER-02
at 31m    expect nudge auto-1 #4
at 44m    expect nudge auto-1 #4
at 47m    expect nudge auto-1 #5
at 74m    expect nudge auto-1 #5
at 79m    expect nudge auto-1 #6
at 104m   expect nudge auto-1 #6
at 112m   expect question g1 "no progress after 6 nudges"
expect nudge auto-1 #6
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 1h45m
