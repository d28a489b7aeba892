story "What is not ready yet is cancelled only with a reason" proves PLAN-08
fleet 1 hosts, lease 4s
agent ci may plan
goal g1
g1 is planned as "P1(T1 T2<T1)"
T2 of g1 is cancelled
expect the answer about g1 is E_INVALID
T2 of g1 is cancelled because "not needed" by agent ci
expect the answer about g1 is E_UNAUTHORIZED
expect T2 of g1 is todo
T2 of g1 is cancelled because "not needed"
expect T2 of g1 is cancelled
expect the last work.cancelled of g1 says override 1
expect the last work.cancelled of g1 says actor ada
# a ready one needs no reason
T1 of g1 is cancelled by agent ci
expect T1 of g1 is cancelled
