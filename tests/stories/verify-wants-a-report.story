story "Work that is to end with a report is not done without one, whatever its files say" proves VERIFY-09
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1!, assigned to auto-1
checks say passed
at 5m   auto-1 says done with commit abc
at 6m   expect auto-1 was sent failed 1 times
expect auto-1 was told "completion_report: the run did not end with report_completion"
expect T1 of g1 is in_progress
at 8m   auto-1 reports its end with commit abd
at 9m   expect T1 of g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 8m
expect no check of g1 before 5m
