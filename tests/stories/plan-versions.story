story "Versions of a plan go up by one, for each author and on each host; its id stays" proves PLAN-17
fleet 2 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2 T3)"
expect the plan of g1 has version 1
expect the plan of g1 keeps its id
g1 is planned as "P1(T1 T2 T3 T4)" by the overseer
a task T5 joins P1 of g1
expect the plan of g1 has version 3
crash host 1
wait 20s
expect g1 owned by host 2
T1 of g1 is done because "checked" at host 2
expect the plan of g1 has version 4
start host 1
a task T6 joins P1 of g1 at host 1
wait 4s
expect the plan of g1 has version 5
expect g1 has 1 plan.created records
expect g1 has 4 plan.updated records
expect the last plan.updated of g1 says planVersion 5
expect the plan of g1 keeps its id
