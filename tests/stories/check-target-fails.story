story "What fails on its target, too, waits for that, and goes on by itself when the target passes" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say "target fails"
at 5m   auto-1 says done with commit abc
at 95m  expect auto-1 was sent failed 0 times
expect T1 of g1 is in_progress
expect g1 has 0 work.done records
at 96m  crash host 1
start host 1
at 120m expect T1 of g1 is in_progress
checks say passed
at 140m expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no check of g1 before 5m
