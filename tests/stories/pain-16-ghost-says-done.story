story "An agent that was replaced and comes back does not end the work of its successor" proves UPDATE-06
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 1, reassign allowed
goal g1 with task T1, assigned to auto-1
at 60m  expect auto-2 works on T1
auto-2 works
auto-1 says done with commit "1a2b"
expect T1 of g1 is in_progress
expect assignment of T1 active
# what must not happen
expect no resend, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no reassignment or stop of g1 before 17m
expect no question of g1 before 34m
