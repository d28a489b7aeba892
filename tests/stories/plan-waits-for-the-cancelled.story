story "A new plan that waits for something cancelled is accepted, and a person is asked at once" proves PLAN-22
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
T1 of g1 is cancelled
expect g1 has 0 plan.review_needed records
g1 is planned as "P1(T1 T2 T3<T1)" by the overseer
expect the last records of g1 to be "plan.updated plan.review_needed"
expect T3 of g1 is todo
crash host 1
start host 1
expect g1 is "needs you"
T3 of g1 is cancelled because "then not"
the plan of g1 stands as it is
T2 of g1 is done because "checked"
expect g1 has status completed
