story "A task is split in two and its parts are planned anew; what was done of it stays done" proves PLAN-32
fleet 1 hosts, lease 4s
everybody crashes and starts again after each request
goal g1
g1 is planned as "P1(T1(S1 S2 S3))" by the overseer
S1 of g1 is done because "checked"
g1 is planned as "P1(T1(S1 S2) T2<T1(S4 S5))" by the overseer because "T1 is too large"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued, T2 todo, S4 todo, S5 todo"
expect S3 of g1 has left the plan as cancelled
expect the last plan.updated of g1 says why replan
expect the last plan.updated of g1 says text "added: T2 S4 S5; removed: S3; changed: "
S2 of g1 is done because "checked"
expect the plan of g1 to be "P1 in_progress, T1 done, S1 done, S2 done, T2 queued, S4 queued, S5 queued"
