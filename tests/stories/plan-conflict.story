story "Of two edits of one version the first wins, and the other is told" proves PLAN-25 STORE-06
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
freeze host 1
g1 is planned as "P1(T1 T2)" from version 1
g1 is planned as "P1(T1 T3)" from version 1
thaw host 1
expect the answer about g1 is E_CONFLICT
expect the plan of g1 to be "P1 queued, T1 queued, T2 queued"
expect the plan of g1 has version 2
crash host 1
start host 1
g1 is planned as "P1(T1 T3)" from version 1
expect the answer about g1 is E_CONFLICT
T1 of g1 is started from version 1
expect the answer about g1 is E_CONFLICT
a task T3 joins P1 of g1 from version 1
expect the answer about g1 is E_CONFLICT
g1 is planned as "P1(T1 T3)" from version 7
expect the answer about g1 is E_CONFLICT
g1 is planned as "P1(T1 T2 T3)" from version 2
expect the plan of g1 has version 3
