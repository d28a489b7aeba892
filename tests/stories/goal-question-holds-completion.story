story "A goal is not called done while a review of its plan is requested"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
a review is requested of the plan of g1 because "T1 is too large" by agent a7
expect g1 is "needs you"
T1 of g1 is done because "checked"
expect g1 has status active
crash host 1
start host 1
the plan of g1 stands as it is by the overseer
expect the answer about g1 is E_UNAUTHORIZED
the plan of g1 stands as it is
expect g1 has status completed
expect the last records of g1 to be "plan.rejected goal.completed"
