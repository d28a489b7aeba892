story "A node goes its way by the table; when it began is said once, when it ended at its end" proves PLAN-06 PLAN-07 PLAN-08
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2<T1)"
expect the plan of g1 to be "P1 queued, T1 queued, T2 todo"
T1 of g1 is done with evidence "commit 1a2b" by the overseer
expect the answer about g1 is E_CONFLICT
T2 of g1 is started
expect the answer about g1 is E_CONFLICT
T1 of g1 is given a status that there is not
expect the answer about g1 is E_INVALID
expect T1 of g1 began at never and ended at never
at 00:05 T1 of g1 is started
expect T1 of g1 is in_progress
at 00:10 T1 of g1 is blocked by external because "the build farm is down"
expect T1 of g1 is blocked
crash host 1
start host 1
T1 of g1 is started
expect the answer about g1 is E_CONFLICT
at 00:20 T1 of g1 is unblocked
at 00:25 T1 of g1 is started
expect T1 of g1 began at 00:05 and ended at never
at 00:30 T1 of g1 is done with evidence "commit 1a2b" by the overseer
expect T1 of g1 began at 00:05 and ended at 00:30
T1 of g1 is started
expect the answer about g1 is E_CONFLICT
T2 of g1 is cancelled
expect the plan of g1 to be "P1 done, T1 done, T2 cancelled"
