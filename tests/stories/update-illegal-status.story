story "A status that is no legal step is refused, and the rest of the update is kept" proves UPDATE-09
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 says status todo
expect T1 of g1 is in_progress
expect g1 has 1 update.refused records
expect g1 has 1 rows of crystallization
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
