story "A turn in flight from which nothing comes is stalled after its own limit, and is acted on" proves TICK-08
fleet 1 hosts, lease 4m
policy idle-after 15m, turn-most 30m, max-retries 1, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 1m   auto-1 hangs in its turn
at 28m  expect assignment of T1 dispatched; expect nudge auto-1 #0
at 33m  expect assignment of T1 stalled
at 3h   expect question g1 "no progress"
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 31m
expect no question of g1 before 1h1m
