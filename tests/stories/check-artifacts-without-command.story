story "What a node has to leave is looked for where the operator has no checks, and without it nothing changes" proves VERIFY-01 VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks no, lands no
goal g1 with task T1*, assigned to auto-1
expect auto-1 was told "report.json, at least 2 bytes, valid JSON"
checks say failed
at 5m   auto-1 says done with commit abc
at 6m   expect auto-1 was sent failed 1 times
expect T1 of g1 is in_progress
auto-1 reports "mending"
checks say passed
at 9m   auto-1 says done with commit abd
at 10m  expect T1 of g1 is done
expect g1 has 2 work.checked records
expect the last work.done of T1 of g1 says reason "verified"
goal g2 with task T2, assigned to auto-1
at 15m  auto-1 says done with commit abe
at 16m  expect T2 of g2 is done
expect g2 has 0 work.checked records
expect the last work.done of T2 of g2 says reason "unverified"
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 9m
expect no check of g1 before 5m
expect no stall, nudge, resend, reassignment, landing, question or doubt of g2
expect no start of g2 before 10m
expect no stop of g2 before 15m
