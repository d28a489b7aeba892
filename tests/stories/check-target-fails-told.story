story "A person sends the agent on although its target fails, too" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 60m, undo-for 0s, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say "target fails"
at 5m    auto-1 says done with commit abc
at 20m   expect T1 of g1 is in_progress
the person tells auto-1 "mend the parser first"
at 30m   expect auto-1 was told "mend the parser first"
checks say passed
at 32m   auto-1 says done with commit abd
at 40m   expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no check of g1 before 5m
