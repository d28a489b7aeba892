story "A report of a run whose host was lost never counts for the next attempt; that the run has ended does" proves TICK-17
fleet 2 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 10m  freeze host 1
auto-1 says done with commit "1a2b"
at 20m  expect g1 owned by host 2
expect auto-1 was started 1 times
at 21m  thaw host 1
at 24m  expect the last update.held of g1 says rule run.stale
expect auto-1 was started 2 times
expect g1 is working
auto-1 says done with commit "3c4d"
at 30m  expect g1 is done
expect no nudge, reassignment, landing or doubt of g1
