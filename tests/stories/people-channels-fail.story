story "A channel that fails stops nothing: it is tried again by itself, and the question waits in the inbox" proves ESCALATE-07
fleet 1 hosts, lease 20m
channels desk desktop
policy idle-after 15m, max-retries 1, reassign forbidden, say-most 1
channels fail
goal g1 with task T1, assigned to auto-1
auto-1 asks a person "drop the column?"
at 1m   expect question g1 "drop the column?"
expect g1 is "needs you"
channels work
at 30m  expect g1 has 1 question.said records
the person answers g1 with "keep it"
at 35m  expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
