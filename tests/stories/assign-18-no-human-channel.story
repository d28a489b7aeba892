story "A nudge goes to its agent only; no message is sent to people" proves ASSIGN-18
fleet 1 hosts, lease 4m
policy idle-after 15m, max-retries 2, backoff 2m..30m, min-resend 5m, planner none, reassign forbidden
channels desk desktop
goal g1 with task T1, assigned to auto-1
at 00:00  auto-1 reports "parsing done"
at 16m    expect nudge auto-1 #1
expect channel desk was given 0 messages
at 17m    auto-1 reports "typing done"
at 18m    expect channel desk was given 0 messages
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
