story "Forty-seven identical events: what is said twice under one name is applied once" proves STORE-06
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   host 1 loses the answer of its next commit, which is committed
auto-1 reports "half"
at 20m  expect g1 has 1 update.taken records
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 20m
