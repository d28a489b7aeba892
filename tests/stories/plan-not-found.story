story "What there is not cannot be planned, worked on or moved" proves PLAN-26
fleet 1 hosts, lease 4s
g9 is planned as "P1(T1)"
expect the answer about g9 is E_NOT_FOUND
T1 of g9 is started
expect the answer about g9 is E_NOT_FOUND
g9 is paused
expect the answer about g9 is E_NOT_FOUND
expect g9 is not in the store
goal g1
T1 of g1 is started
expect the answer about g1 is E_NOT_FOUND
g1 is planned as "P1(T1 T2)"
T7 of g1 is started
expect the answer about g1 is E_NOT_FOUND
g1 is planned as "P1(T1)"
# it has left the plan
T2 of g1 is started
expect the answer about g1 is E_NOT_FOUND
expect the plan of g1 to be "P1 queued, T1 queued"
