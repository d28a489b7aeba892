story "A plan that is edited while a person changes the goal in the store loses neither change" proves STORE-06
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
a person changes the goal by hand
T1 of g1 is done because "checked"
expect the answer about g1 is OK
a person changes the goal by hand
g1 is planned as "P1(T1 T2 T3)"
expect the answer about g1 is OK
expect the plan of g1 to be "P1 in_progress, T1 done, T2 queued, T3 queued"
expect g1 has 2 goal.reported records
expect the plan of g1 has version 3
