story "What passed its checks lands, also if a question was answered meanwhile" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 15m, undo-for 0s, checks yes, lands yes
goal g1 with task T1, assigned to auto-1
checks say passed
landing says landed
at 5m    hands are idle
auto-1 says done with commit abc
auto-1 asks a person "which database?"
at 6m    hands work
at 7m    expect assignment of T1 blocked
the person answers g1 with "the small one"
at 30m   expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment or doubt of g1
expect no stop or landing of g1 before 7m
expect no check or question of g1 before 5m
