story "A plan whose commit stands although its answer was lost is applied once" proves STORE-02 STORE-08
fleet 1 hosts, lease 4s
goal g1
host 1 crashes in its next commit, which is committed
g1 is planned as "P1(T1(S1))"
expect the answer about g1 is nothing
start host 1
expect the plan of g1 to be "P1 queued, T1 queued, S1 queued"
g1 is asked for again
expect the answer about g1 is OK
expect the plan of g1 to be "P1 queued, T1 queued, S1 queued"
expect the plan of g1 has version 1
expect the records of g1 to be "goal.created plan.created work.queued work.queued work.queued"
