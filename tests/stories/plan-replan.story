story "A new plan keeps what it names; what it leaves out is stopped, and its id is never used again" proves PLAN-01 PLAN-32
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2)"
S1 of g1 is started
S2 of g1 is done because "checked"
T2 of g1 is started
g1 is planned as "P1(T1~(S1 S3))" because "T2 was a mistake"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 in_progress, S3 queued"
expect S2 of g1 has left the plan as done
expect T2 of g1 has left the plan as cancelled
expect the last plan.updated of g1 says text "added: S3; removed: S2 T2; changed: T1"
expect the last plan.updated of g1 says reason "T2 was a mistake"
crash host 1
start host 1
g1 is planned as "P1(T1(S1 S3) T2)"
expect the answer about g1 is E_INVALID_PLAN
a task T2 joins P1 of g1
expect the answer about g1 is E_CONFLICT
expect T2 of g1 has left the plan as cancelled
