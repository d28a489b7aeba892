story "What a person said while it was checked is heard before it is done" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 60m, undo-for 0s, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say passed
at 5m    hands are idle
auto-1 says done with commit abc
the person tells auto-1 "use tabs"
at 6m    hands work
at 8m    expect T1 of g1 is in_progress
expect auto-1 was told "use tabs"
at 10m   auto-1 says done with commit abd
at 12m   expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 10m
expect no check of g1 before 5m
