story "What is asked for in one breath is decided in order and stored together" proves EVENT-04
fleet 1 hosts, lease 4s
freeze host 1
goal g1
g1 is planned as "P1(T1(S1 S2<S1))" from version 0
S1 of g1 is started
S1 of g1 is done because "checked"
S2 of g1 is started
thaw host 1
expect the answer about g1 is OK
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 in_progress"
crash host 1
start host 1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 in_progress"
expect the records of g1 to be "goal.created plan.created work.queued work.queued work.queued work.started work.started work.started work.done work.queued work.started"
