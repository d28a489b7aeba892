story "When something is opened again, what waits for it waits again; what has begun goes on"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1) T2<T1 T3<T1)"
S1 of g1 is done because "checked"
T2 of g1 is started
expect the plan of g1 to be "P1 in_progress, T1 done, S1 done, T2 in_progress, T3 queued"
crash host 1
start host 1
a subtask S2 joins T1 of g1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued, T2 in_progress, T3 todo"
expect the last work.todo of g1 says rule "plan.unready"
S2 of g1 is done because "checked"
expect T3 of g1 is queued
