story "Two edits of one version at two hosts: one is applied, whichever host was asked" proves PLAN-25 STORE-06
fleet 2 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
freeze host 1
freeze host 2
g1 is planned as "P1(T1 T2)" from version 1 at host 2
g1 is planned as "P1(T1 T3)" from version 1 at host 1
thaw host 1
expect the answer about g1 is OK
thaw host 2
wait 8s
expect the plan of g1 to be "P1 queued, T1 queued, T3 queued"
expect the plan of g1 has version 2
# and the other way round: what reaches the owner first counts
freeze host 1
g1 is planned as "P1(T1 T3 T4)" from version 2 at host 2
expect the answer about g1 is forwarded
crash host 2
thaw host 1
wait 4s
g1 is planned as "P1(T1 T3 T5)" from version 2 at host 1
expect the answer about g1 is E_CONFLICT
expect the plan of g1 to be "P1 queued, T1 queued, T3 queued, T4 queued"
expect the plan of g1 has version 3
