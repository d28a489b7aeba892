story "A proposed plan that is declined leaves the old one as it is"
fleet 1 hosts, lease 4s
plans need approval
goal g1
# a person's own plan needs no other person
g1 is planned as "P1(T1)"
expect the plan of g1 has version 1
g1 is planned as "P1(T1 T2 T3)" by the overseer
expect the plan of g1 to be "P1 queued, T1 queued"
expect g1 is "needs you"
the proposed plan of g1 is rejected because "too much"
crash host 1
start host 1
expect the plan of g1 to be "P1 queued, T1 queued"
expect the plan of g1 has version 1
expect g1 is queued
expect the last plan.rejected of g1 says reason "too much"
the proposed plan of g1 is approved
expect the answer about g1 is E_CONFLICT
