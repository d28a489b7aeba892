story "A task that loses its subtasks to a new plan has to be worked on itself"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2)"
S1 of g1 is started
expect T1 of g1 is in_progress
g1 is planned as "P1(T1 T2)"
expect the plan of g1 to be "P1 queued, T1 queued, T2 queued"
expect the last work.todo of g1 says rule "plan.childless"
crash host 1
start host 1
T1 of g1 is started
expect T1 of g1 is in_progress
