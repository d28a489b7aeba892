story "What waits for a phase waits for all of it, and so does everything below" proves PLAN-35
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2) P2<P1(T3(S1 S2<S1))"
T1 of g1 is done because "checked"
expect S1 of g1 is todo
T2 of g1 is done because "checked"
expect the plan of g1 to be "P1 done, T1 done, T2 done, P2 queued, T3 queued, S1 queued, S2 todo"
crash host 1
start host 1
S1 of g1 is done because "checked"
expect S2 of g1 is queued
