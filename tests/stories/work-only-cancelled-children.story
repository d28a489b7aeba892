story "A task of which every part is cancelled is cancelled; a plan of which nothing is left is looked at" proves PLAN-22
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2))"
S1 of g1 is cancelled
expect T1 of g1 is queued
S2 of g1 is cancelled
expect the plan of g1 to be "P1 cancelled, T1 cancelled, S1 cancelled, S2 cancelled"
expect the last records of g1 to be "work.cancelled work.cancelled work.cancelled plan.review_needed"
# cancelled children are not done
expect g1 has status active
expect g1 is "needs you"
crash host 1
start host 1
a phase P2 joins g1
P2 of g1 is done because "checked"
the plan of g1 stands as it is
expect g1 has status completed
