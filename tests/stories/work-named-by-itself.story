story "Work that joins without an id gets one that nothing in the goal ever had"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1.1(S1.1.1))"
a subtask - joins T1.1 of g1
a task - joins P1 of g1
a phase - joins g1
expect the plan of g1 to be "P1 queued, T1.1 queued, S1.1.1 queued, S1.1.2 queued, T1.2 queued, P2 queued"
crash host 1
start host 1
g1 is planned as "P1(T1.1(S1.1.1))"
a subtask - joins T1.1 of g1
expect the plan of g1 to be "P1 queued, T1.1 queued, S1.1.1 queued, S1.1.3 queued"
