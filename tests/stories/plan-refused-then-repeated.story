story "A request that was refused may be repeated with its key once it can be had, and is then done once"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2<T1)"
T2 of g1 is started
expect the answer about g1 is E_CONFLICT
crash host 1
start host 1
g1 is asked for again
expect the answer about g1 is E_CONFLICT
T1 of g1 is done because "checked"
g1 is asked again for what it was asked before that
expect the answer about g1 is OK
expect T2 of g1 is in_progress
crash host 1
start host 1
g1 is asked for again
expect the answer about g1 is OK
expect g1 has 2 work.started records
