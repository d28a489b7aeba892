story "A proposal is approved for the plan that it was made for, and for no later one" proves PLAN-25
fleet 1 hosts, lease 4s
plans need approval
goal g1
g1 is planned as "P1(T1 T2)"
g1 is planned as "P1(T1 T2 T3)" by the overseer
# a finished task is a new version
T1 of g1 is done because "checked"
the proposed plan of g1 is approved
expect the answer about g1 is E_CONFLICT
expect the plan of g1 to be "P1 in_progress, T1 done, T2 queued"
crash host 1
start host 1
expect g1 is "needs you"
g1 is planned as "P1(T1 T2 T3)" by the overseer
the proposed plan of g1 is approved
expect the plan of g1 to be "P1 in_progress, T1 done, T2 queued, T3 queued"
expect the plan of g1 has version 3
