story "A cancelled node stays cancelled, for agents and people alike" proves PLAN-09
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
T1 of g1 is started
T1 of g1 is cancelled
T1 of g1 is started
expect the answer about g1 is E_CONFLICT
T1 of g1 is unblocked by the overseer
expect the answer about g1 is E_CONFLICT
T1 of g1 is done because "it is done"
expect the answer about g1 is E_CONFLICT
T1 of g1 is set to queued because "we need it"
expect the answer about g1 is E_CONFLICT
crash host 1
start host 1
T1 of g1 is set to in_progress because "we need it" by the overseer
expect the answer about g1 is E_CONFLICT
a subtask S1 joins T1 of g1
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as "P1(T1 T2)"
expect the plan of g1 to be "P1 queued, T1 cancelled, T2 queued"
