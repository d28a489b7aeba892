story "Below a task that a person marked as done nothing is ready, until the task follows its parts again"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2<T1)"
S1 of g1 is started
T1 of g1 is done because "good enough"
expect the plan of g1 to be "P1 in_progress, T1 done, S1 in_progress, S2 todo, T2 queued"
crash host 1
start host 1
S2 of g1 is started
expect the answer about g1 is E_CONFLICT
T1 of g1 follows its children because "it was not"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 in_progress, S2 queued, T2 todo"
