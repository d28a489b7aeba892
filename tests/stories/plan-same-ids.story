story "Two goals may call their work the same: each has its own"
fleet 1 hosts, lease 4s
goal g1
goal g2
g1 is planned as "P1(T1(S1))"
g2 is planned as "P1(T1(S1))"
S1 of g1 is done because "checked"
crash host 1
start host 1
expect g1 has status completed
expect g2 has status active
expect the plan of g2 to be "P1 queued, T1 queued, S1 queued"
expect the records of g2 to be "goal.created plan.created work.queued work.queued work.queued"
