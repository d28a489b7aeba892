story "What passed its checks and cannot be landed is a question, and not done" proves VERIFY-22 AUTO-21
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
landing says refused
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "could not be landed"
expect T1 of g1 is in_progress
expect g1 has 0 work.done records
expect g1 has 1 work.checked records
checks say "not checked"
the person answers g1 with "2"
at 40m  auto-1 says done with commit abc
at 42m  expect question g1 "cannot be checked"
expect g1 has 0 work.landed records
expect no work.landed, resend or doubt of g1
expect no check or question of g1 before 5m
