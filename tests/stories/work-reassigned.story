story "Work is given to another agent by setting it back to queued, with a reason; when it began stays" proves PLAN-08
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
at 00:05 T1 of g1 is started by the overseer
T1 of g1 is unblocked by the overseer
expect the answer about g1 is E_CONFLICT
at 00:10 T1 of g1 is set to queued because "its agent is gone" by the overseer
expect the plan of g1 to be "P1 queued, T1 queued"
expect the last work.queued of T1 of g1 says reason "its agent is gone"
expect the last work.queued of T1 of g1 says override 1
expect g1 is queued
crash host 1
start host 1
at 00:15 T1 of g1 is started by the overseer
expect g1 is working
expect T1 of g1 began at 00:05 and ended at never
