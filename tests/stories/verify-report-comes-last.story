story "A report after which its agent went on is not the last that it said" proves VERIFY-09
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1!fail, assigned to auto-1
goal g2 with task T1!fail, assigned to auto-2
checks say passed
at 5m   auto-1 reports that a part is done
auto-2 reports that a part is done
at 6m   auto-2 is 90 percent through mending
at 7m   auto-1 says done with commit abc
auto-2 says done with commit abc
at 9m   expect T1 of g1 is done
expect T1 of g2 is blocked
expect the last work.blocked of T1 of g2 says reason "it has not reported its end"
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop or check of g1 before 7m
expect no stall, nudge, resend, reassignment, landing or doubt of g2
expect no stop, check or question of g2 before 7m
