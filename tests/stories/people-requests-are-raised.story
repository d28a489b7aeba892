story "A request that no agent answers goes to a person" proves REQUEST-09 REQUEST-05
fleet 1 hosts, lease 20m
channels desk desktop
policy idle-after 3h, request-raise 15m
goal g1 with task T1, assigned to auto-1
auto-1 asks its parent "which of the two?"
crash
at 14m  expect channel desk was given 0 messages
at 16m  expect channel desk was given 1 messages
expect g1 is "needs you"
expect g1 has 1 question.raised records
the person answers g1 with "the second"
at 30m  expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
