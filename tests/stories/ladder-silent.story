story "A silent worker is nudged twice, then a person is asked" proves TICK-11 TICK-23 RECOVER-07 RECOVER-08 TEST-02
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 2, backoff 2m..30m, min-resend 5m, planner none, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 00:00  auto-1 reports "parsing done"
at 14m    expect assignment of T1 active
at 15m    expect assignment of T1 stalled; expect nudge auto-1 #1
crash                          # restart here: nothing may be sent twice
at 19m    expect nudge auto-1 #1
at 21m    expect nudge auto-1 #2
at 40m    expect question g1 "no progress after 2 nudges"
expect nudge auto-1 #2
sleep 8h                       # the laptop closes
at 8h45m  expect nothing       # clock jump: observe, do not act
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 24m
