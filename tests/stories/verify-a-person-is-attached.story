story "No agent is restarted or ended while a person is attached to it" proves VERIFY-18
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, checks yes, lands no
goal g1 with task T1*retry_once, assigned to auto-1
checks say failed
at 4m    a person attaches to auto-1
at 5m    auto-1 says done with commit abc
at 7m    expect auto-1 was stopped 0 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no check or question of g1 before 5m
