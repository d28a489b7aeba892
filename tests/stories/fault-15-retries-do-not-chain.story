story "Runs that die are started again a few times, not for ever" proves RECOVER-08
fleet 1 hosts, lease 4m
policy max-restarts 3, restart-window 2h, reassign forbidden
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 dies
at 20m   expect auto-1 was started 2 times
auto-1 dies
at 50m   expect auto-1 was started 3 times
auto-1 dies
at 100m  expect auto-1 was started 4 times
auto-1 dies
at 10h   expect auto-1 was started 4 times
expect question g1 "died each time"
# what must not happen
expect no reassignment, landing or doubt of g1
expect no stall or stop of g1 before 5m
expect no nudge of g1 before 39m
expect no resend of g1 before 7m
expect no question of g1 before 1h40m
