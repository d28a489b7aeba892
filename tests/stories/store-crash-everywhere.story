story "A plan is made, worked on, changed and finished, with a crash after every request" proves STORE-02
fleet 2 hosts, lease 4s
everybody crashes and starts again after each request
goal g1
g1 is planned as "P1(T1(S1 S2<S1)) P2<P1(T2)"
S1 of g1 is started
S1 of g1 is done with evidence "commit 1a2b" by the overseer
S2 of g1 is blocked by failure because "the tests do not pass"
expect the plan of g1 to be "P1 blocked, T1 blocked, S1 done, S2 blocked, P2 todo, T2 todo"
S2 of g1 is unblocked
a subtask S3 joins T1 of g1
S3 of g1 is cancelled
S2 of g1 is started
S2 of g1 is done with evidence "commit 3c4d" by the overseer
expect the plan of g1 to be "P1 done, T1 done, S1 done, S2 done, S3 cancelled, P2 queued, T2 queued"
T2 of g1 is done because "checked"
expect g1 has status completed
expect g1 owned by host 1
expect the plan of g1 has version 4
