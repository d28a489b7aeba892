story "Nothing is moved below what is cancelled" proves PLAN-24
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1) T2(S2))"
T1 of g1 is cancelled
g1 is planned as "P1(T1(S1 S2) T2)"
expect the answer about g1 is E_INVALID_PLAN
crash host 1
start host 1
expect the plan of g1 to be "P1 queued, T1 cancelled, S1 cancelled, T2 queued, S2 queued"
