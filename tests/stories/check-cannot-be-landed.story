story "What passed its checks and cannot be landed is a question, and not done" proves VERIFY-22 AUTO-21
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
landing says moved
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "others were faster"
expect T1 of g1 is in_progress
landing says refused
the person answers g1 with "1"
at 20m  auto-1 says done with commit abc
at 22m  expect question g1 "could not be landed"
expect g1 has 0 work.done records
checks say "not checked"
the person answers g1 with "1"
at 40m  auto-1 says done with commit abc
at 42m  expect question g1 "cannot be checked"
