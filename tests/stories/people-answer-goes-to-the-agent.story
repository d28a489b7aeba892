story "An answer takes effect after the time to undo it, outlives a crash, and reaches the agent" proves ESCALATE-14
fleet 1 hosts, lease 20m
channels desk desktop
policy idle-after 15m, max-retries 1, reassign forbidden, undo-for 30s
goal g1 with task T1, assigned to auto-1
auto-1 asks a person "drop the column?"
expect question g1 "drop the column?"
expect assignment of T1 blocked
expect channel desk was given 1 messages
the person answers g1 with "keep it"
expect assignment of T1 blocked
the person takes the answer to g1 back
expect question g1 "drop the column?"
the person answers g1 with "drop it"
crash
at 10m  expect g1 asks nothing
expect g1 has 2 question.answered records
expect g1 has 1 question.undone records
expect g1 has 1 question.applied records
expect g1 has 1 question.asked records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
