story "A plan that breaks a rule changes nothing at all" proves PLAN-24 STORE-08
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1))"
g1 is planned as "P1(T1<T2(S1) T2<T1)"
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as "P1<T1(T1(S1))"
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as "P1(T1(S1) T2<T9)"
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as "P1(T1(S1) T2<T2)"
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as "P1(T1(S1) T1)"
expect the answer about g1 is E_INVALID_PLAN
# it could not be checked
g1 is planned as "P1(T1(S1) T2!)"
expect the answer about g1 is E_INVALID_PLAN
# a node keeps its tier
g1 is planned as "P1(T1 S1)"
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as "P1(T1(S1) T/2)"
expect the answer about g1 is E_INVALID_PLAN
g1 is planned as ""
expect the answer about g1 is E_INVALID_PLAN
g1 is planned with bytes that are no plan
expect the answer about g1 is E_INVALID_PLAN
# more than a planner may make
g1 is planned as "P1 P2 P3 P4 P5 P6" by the overseer
expect the answer about g1 is E_INVALID_PLAN
a subtask S9 joins P1 of g1
expect the answer about g1 is E_INVALID_PLAN
a task T2 joins P9 of g1
expect the answer about g1 is E_INVALID_PLAN
a task T2<P1 joins P1 of g1
expect the answer about g1 is E_INVALID_PLAN
crash host 1
start host 1
expect the plan of g1 to be "P1 queued, T1 queued, S1 queued"
expect the plan of g1 has version 1
expect the records of g1 to be "goal.created plan.created work.queued work.queued work.queued"
