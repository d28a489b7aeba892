story "The last subtask takes its task, its phase and the goal with it, all at once" proves PLAN-10 PLAN-11
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2))"
S1 of g1 is done because "checked"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued"
expect g1 has status active
# a crash in the middle: all of it or nothing
host 1 crashes in its next commit, which is not
S2 of g1 is done because "checked"
start host 1
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued"
host 1 crashes in its next commit, which is committed
g1 is asked for again
start host 1
expect the plan of g1 to be "P1 done, T1 done, S1 done, S2 done"
expect g1 has status completed
expect g1 has an end
g1 is asked for again
expect the answer about g1 is OK
expect the last records of g1 to be "work.queued work.queued work.done work.started work.started work.done work.done plan.updated work.done goal.completed"
