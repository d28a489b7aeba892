story "Duplicate spawns: a claim whose answer is lost starts no agent twice" proves TICK-16
fleet 1 hosts, lease 4m
agents auto-1
goal g1
host 1 loses the answer of its next commit, which is committed
g1 is planned as "P1(T1)"
at 5m   crash
at 60m  expect auto-1 was started 1 times shows ASSIGN-14.b
# what must not happen
expect no resend, reassignment, stop, landing or doubt of g1
expect no stall or nudge of g1 before 20m
expect no question of g1 before 29m
