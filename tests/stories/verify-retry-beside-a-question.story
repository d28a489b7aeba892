story "Who is answered when it is to be begun anew is begun anew, and hears the answer then" proves VERIFY-18
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, checks yes, lands no
goal g1 with task T1*retry_once, assigned to auto-1
checks say failed
at 5m    hands are idle
auto-1 says done with commit abc
auto-1 asks a person "which database?"
at 6m    hands work
at 7m    expect assignment of T1 blocked
the person answers g1 with "the small one"
at 9m    expect g1 has 1 work.retried records
expect auto-1 was started 2 times
auto-1 ends its turn
at 12m   expect auto-1 was told "the small one"
# what must not happen
expect no stall, nudge, resend, reassignment, landing or doubt of g1
expect no stop of g1 before 7m
expect no check or question of g1 before 5m
