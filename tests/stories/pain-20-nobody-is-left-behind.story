story "Orphan processes: an agent that is replaced, cancelled or done is ended" proves ASSIGN-05
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 1, reassign allowed
goal g1 with task T1, assigned to auto-1
at 60m  expect auto-2 works on T1
expect auto-1 was stopped 1 times
auto-2 says done with commit "1a2b"
at 62m  expect g1 is done
expect auto-2 was stopped 1 times
# what must not happen
expect no resend, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no reassignment or stop of g1 before 17m
expect no question of g1 before 34m
