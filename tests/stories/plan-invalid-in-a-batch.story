story "What is refused takes nothing with it of what was asked for together with it" proves STORE-08
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2))"
freeze host 1
S1 of g1 is started
g1 is planned as "P1(T1<T1(S1 S2))"
S1 of g1 is done because "checked"
S2 of g1 is blocked by other
thaw host 1
expect the answer about g1 is E_INVALID
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued"
crash host 1
start host 1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued"
expect the last records of g1 to be "work.started work.started work.started work.done"
