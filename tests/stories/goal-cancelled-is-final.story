story "A cancelled goal does not come back, and its plan and work stand still"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
T1 of g1 is started
g1 is cancelled
crash host 1
start host 1
g1 is resumed because "we want it after all"
expect the answer about g1 is E_CONFLICT
T1 of g1 is done because "it is"
expect the answer about g1 is E_CONFLICT
g1 is planned as "P1(T1)"
expect the answer about g1 is E_CONFLICT
a task T3 joins P1 of g1
expect the answer about g1 is E_CONFLICT
expect the plan of g1 to be "P1 in_progress, T1 in_progress, T2 queued"
# what is said about it is kept all the same
host 1 hears of g1 that "too late"
expect g1 has 1 reports
expect the last records of g1 to be "work.started goal.cancelled goal.reported"
