story "What is cancelled does not count: the rest being done, the task is done" proves PLAN-10
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2)"
S1 of g1 is done because "checked"
S2 of g1 is cancelled
expect the plan of g1 to be "P1 in_progress, T1 done, S1 done, S2 cancelled, T2 queued"
crash host 1
start host 1
T2 of g1 is cancelled
# nothing is left open
expect P1 of g1 is done
expect g1 has status completed
