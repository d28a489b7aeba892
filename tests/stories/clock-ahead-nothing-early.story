story "The clock steps ahead by a year: no agent is nudged early, and the ladder keeps its pace" proves TICK-11 TICK-23
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 2, backoff 2m..30m, min-resend 5m, planner none, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 00:00  auto-1 reports "parsing done"
at 10m    the clock steps ahead by 8760h
at 24m    expect nudge auto-1 #0
expect g1 has 0 assignment.stalled records
at 27m    expect nudge auto-1 #1
the clock steps ahead by 1h
at 31m    expect nudge auto-1 #1
at 45m    expect nudge auto-1 #2
expect g1 has 2 clock.stepped records
expect no resend, reassignment, stop, landing, question or doubt of g1
