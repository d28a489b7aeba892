story "Done without anything to show for it is not done: it is asked for once, then a person is" proves UPDATE-09 UPDATE-10
fleet 1 hosts, lease 4m
policy idle-after 15m, min-resend 0s
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 says done without evidence
expect T1 of g1 is in_progress
expect auto-1 was sent block 1 times
at 6m   auto-1 says done without evidence
expect T1 of g1 is in_progress
expect question g1 "nothing to show"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 6m
