story "Context exhaustion: before its window is full an agent writes down where things stand, and a fresh run goes on from there" proves CRYSTAL-06 CRYSTAL-07
fleet 1 hosts, lease 4m
policy context-most 85, min-resend 0s
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 reports "half of it is written"
at 6m   the window of auto-1 is 90 percent full
at 25m  expect auto-1 was sent handover 1 times
at 26m  auto-1 reports "the lexer is done, the parser is not"
at 30m  expect auto-1 was started 2 times
expect auto-1 was stopped 1 times
expect auto-1 was told "the lexer is done, the parser is not"
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 26m
