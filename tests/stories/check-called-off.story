story "What the checks and the landing say of work that was called off meanwhile changes nothing" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
goal g2 with task T1, assigned to auto-2
checks say passed
landing says landed
at 5m   hands are idle
auto-1 says done with commit abc
g1 is cancelled
at 6m   hands work
at 7m   expect g1 has 0 work.done records
at 8m   hands are idle
auto-2 says done with commit abc
at 9m   g2 is cancelled
hands work
at 12m  expect g2 has 0 work.landed records
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop or check of g1 before 5m
expect no stall, nudge, resend, reassignment, landing, question or doubt of g2
expect no stop of g2 before 9m
expect no check of g2 before 8m
