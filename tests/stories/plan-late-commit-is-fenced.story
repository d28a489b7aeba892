story "The plan of a host that was taken over does not come in late"
fleet 2 hosts, lease 4s
goal g1
host 1 crashes in its next commit, which is later
g1 is planned as "P1(T1 T2)"
wait 20s
expect g1 owned by host 2
g1 is planned as "P9(T9)" at host 2
expect the answer about g1 is OK
ghosts go on
wait 4s
expect the plan of g1 to be "P9 queued, T9 queued"
expect the plan of g1 has version 1
start host 1
wait 20s
expect the plan of g1 to be "P9 queued, T9 queued"
expect the records of g1 to be "goal.created plan.created work.queued work.queued"
