story "Work that waits for something cancelled cannot begin, and a person is asked, once" proves PLAN-22
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2<T1 T3<T1 T4)"
T1 of g1 is cancelled
expect the last records of g1 to be "work.cancelled plan.review_needed"
expect the last plan.review_needed of g1 says why dependency_cancelled
expect the last plan.review_needed of g1 says node T2
expect the plan of g1 to be "P1 queued, T1 cancelled, T2 todo, T3 todo, T4 queued"
expect g1 is "needs you"
crash host 1
start host 1
T4 of g1 is done because "checked"
expect g1 has 1 plan.review_needed records
expect g1 has status active
g1 is planned as "P1(T1 T2 T4)"
expect the plan of g1 to be "P1 in_progress, T1 cancelled, T2 queued, T4 done"
expect g1 is queued
T2 of g1 is done because "checked"
expect g1 has status completed
