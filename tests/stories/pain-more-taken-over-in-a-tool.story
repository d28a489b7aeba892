story "A host that was away knows nothing of that time: an agent in a call of a tool is not moved for it" proves RECOVER-05 TICK-11
fleet 1 hosts, lease 4m
policy idle-after 15m, idle-in-tool 60m, max-retries 1, reassign allowed
agents auto-1, auto-2
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 opens a tool
at 66m   expect nudge auto-1 #1
auto-1 is observed only by a look
at 67m   crash host 1
at 130m  start host 1
at 180m  expect auto-1 was stopped 0 times
expect auto-2 was started 0 times
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 1h6m
