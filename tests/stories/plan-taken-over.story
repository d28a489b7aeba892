story "A host dies in the middle of a plan; another goes on with it where it stood" proves STORE-02
fleet 2 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2<S1) T2<T1)"
S1 of g1 is started
crash host 1
wait 20s
expect g1 owned by host 2
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 in_progress, S2 todo, T2 todo"
S1 of g1 is done with evidence "commit 1a2b" by the overseer at host 2
expect S2 of g1 is queued
start host 1
wait 8s
expect g1 owned by host 2
S2 of g1 is done because "checked" at host 1
expect the answer about g1 is forwarded
wait 8s
T2 of g1 is done because "checked" at host 2
expect g1 has status completed
