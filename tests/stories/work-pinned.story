story "A task whose status a person set keeps it, whatever its parts do, until it follows them again" proves PLAN-10
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2)"
S1 of g1 is started
T1 of g1 is set to blocked because "the customer thinks about it"
expect the plan of g1 to be "P1 queued, T1 blocked, S1 in_progress, S2 queued, T2 queued"
S1 of g1 is done because "checked"
S2 of g1 is done because "checked"
expect T1 of g1 is blocked
crash host 1
start host 1
expect T1 of g1 is blocked
T1 of g1 follows its children because "the customer has decided"
expect the plan of g1 to be "P1 in_progress, T1 done, S1 done, S2 done, T2 queued"
expect the last work.follows of g1 says reason "the customer has decided"
T1 of g1 follows its children
# it does
expect the answer about g1 is OK
expect g1 has 1 work.follows records
