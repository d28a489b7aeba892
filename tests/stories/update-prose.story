story "Prose says nothing: it is asked for the block once" proves UPDATE-07
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 replies "All done, everything works!"
expect T1 of g1 is in_progress
expect auto-1 was sent block 1 times
at 7m   auto-1 replies "I told you: done."
at 10m  expect auto-1 was sent block 1 times
expect T1 of g1 is in_progress
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
