story "Work is ready when everything that it waits for is done, and not before" proves PLAN-35
fleet 1 hosts, lease 4s
everybody crashes and starts again after each request
goal g1
g1 is planned as "P1(T1 T2<T1 T3<T1 T4<T2+T3)"
expect the plan of g1 to be "P1 queued, T1 queued, T2 todo, T3 todo, T4 todo"
T4 of g1 is started
expect the answer about g1 is E_CONFLICT
T4 of g1 is unblocked
expect the answer about g1 is E_CONFLICT
T1 of g1 is done because "checked"
expect the plan of g1 to be "P1 in_progress, T1 done, T2 queued, T3 queued, T4 todo"
T2 of g1 is done because "checked"
expect T4 of g1 is todo
T3 of g1 is blocked by person because "which colour?"
expect T4 of g1 is todo
T3 of g1 is unblocked
T3 of g1 is done because "checked"
expect T4 of g1 is queued
expect the last work.queued of g1 says rule "plan.ready"
