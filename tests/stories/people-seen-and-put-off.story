story "A question that a person has acknowledged is not sent again; one that was put off comes back" proves ESCALATE-15
fleet 1 hosts, lease 20m
channels desk desktop
policy idle-after 15m, max-retries 1, reassign forbidden, say-again 30m, say-most 6
goal g1 with task T1, assigned to auto-1
auto-1 asks a person "drop the column?"
expect channel desk was given 1 messages
the person puts g1 off for 5h
crash
at 4h   expect channel desk was given 1 messages
at 330m expect channel desk was given 2 messages
the person has seen what g1 asks
at 48h  expect channel desk was given 2 messages
expect question g1 "drop the column?"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
