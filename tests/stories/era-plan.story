story "A plan goes back with the store, and goes on from the version that is there" proves PLAN-25
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
T1 of g1 is started
the store is backed up
T1 of g1 is done because "checked"
g1 is planned as "P1(T1 T2 T3)"
expect the plan of g1 has version 3
the store is put back
start host 1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, T2 queued"
g1 is planned as "P1(T1 T2 T3)" from version 3
expect the answer about g1 is E_CONFLICT
expect g1 has 0 goal.restored records
g1 is planned as "P1(T1 T2 T4)" from version 1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, T2 queued, T4 queued"
expect the last records of g1 to be "work.started work.started goal.restored plan.updated work.queued"
