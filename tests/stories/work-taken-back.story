story "Done by mistake is taken back with a reason, and what waited for it waits again" proves PLAN-17
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2<T1)"
T1 of g1 is done because "I thought so"
expect T2 of g1 is queued
T1 of g1 is set to queued
expect the answer about g1 is E_INVALID
T1 of g1 is set to queued because "it was not"
expect the plan of g1 to be "P1 queued, T1 queued, T2 todo"
crash host 1
start host 1
T1 of g1 is done because "now it is"
expect T2 of g1 is queued
expect the plan of g1 has version 3
