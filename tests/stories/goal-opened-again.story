story "A completed goal is opened again by a person who says why, and completes again"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
T1 of g1 is done because "checked"
expect g1 has status completed
a task T2 joins P1 of g1
expect the answer about g1 is E_CONFLICT
g1 is opened again
expect the answer about g1 is E_CONFLICT
g1 is opened again because "it came back" by the overseer
expect the answer about g1 is E_CONFLICT
g1 is opened again because "it came back"
expect g1 has status active
expect the last goal.reopened of g1 says actor ada
crash host 1
start host 1
a task T2 joins P1 of g1
expect the plan of g1 to be "P1 in_progress, T1 done, T2 queued"
expect g1 is 50 percent done
T2 of g1 is done because "checked again"
expect g1 has status completed
expect g1 has 2 goal.completed records
