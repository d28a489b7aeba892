story "Every first commit comes late: it is fenced, and all is done once" proves STORE-02 STORE-06
fleet 1 hosts, lease 4s
the answer of each first commit is lost, which is later
goal g1
g1 is planned as "P1(T1(S1 S2<S1) T2)"
S1 of g1 is started
S1 of g1 is done because "checked"
a subtask S3 joins T1 of g1
g1 is planned as "P1(T1(S1 S3 S4))"
S3 of g1 is done because "checked"
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S3 done, S4 queued"
expect the plan of g1 has version 3
g1 is paused
S4 of g1 is done because "checked"
g1 is resumed
expect g1 has status completed
expect the plan of g1 has version 4
expect the records of g1 to be "goal.created plan.created work.queued work.queued work.queued work.queued work.started work.started work.started work.done work.queued plan.updated work.queued plan.updated work.cancelled work.cancelled work.queued work.done goal.paused work.done work.done plan.updated work.done goal.resumed goal.completed"
