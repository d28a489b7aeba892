story "A crash between the claim and the start is examined before an agent is started" proves TICK-17 RECOVER-10
fleet 1 hosts, lease 4m
agents auto-1
hands are idle
goal g1
g1 is planned as "P1(T1)"
crash host 1
hands work
start host 1
at 60m  expect auto-1 was started 1 times
expect assignment of T1 has delivery accepted
# what must not happen
expect no resend, reassignment, stop or landing of g1
expect no stall or nudge of g1 before 15m
expect no question of g1 before 24m
