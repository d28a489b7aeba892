story "An override begins work early; queued means ready, so nothing is queued against what it waits for" proves PLAN-35
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2<T1)"
T2 of g1 is set to queued because "I want it now"
expect T2 of g1 is todo
T2 of g1 is set to in_progress because "I want it now"
expect T2 of g1 is in_progress
crash host 1
start host 1
T2 of g1 is set to queued because "not now after all"
expect T2 of g1 is todo
