story "A subtask that a new plan puts below another task keeps its state"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2)"
S1 of g1 is started
g1 is planned as "P1(T1(S2) T2(S1))"
expect the plan of g1 to be "P1 in_progress, T1 queued, S2 queued, T2 in_progress, S1 in_progress"
expect the last plan.updated of g1 says text "added: ; removed: ; changed: S2 S1"
crash host 1
start host 1
g1 is planned as "P1(T1(S2 S1) T2)"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S2 queued, S1 in_progress, T2 queued"
