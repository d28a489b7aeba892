story "A plan has phases, tasks and subtasks, which keep their ids and their state over crashes and new plans" proves PLAN-01
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2<S1) T2<T1)"
expect the plan of g1 to be "P1 queued, T1 queued, S1 queued, S2 todo, T2 todo"
S1 of g1 is started
crash host 1
start host 1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 in_progress, S2 todo, T2 todo"
g1 is planned as "P1(T1(S1 S2<S1) T2<T1) P2<P1(T3)"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 in_progress, S2 todo, T2 todo, P2 todo, T3 todo"
crash host 1
start host 1
expect S1 of g1 is in_progress
