story "What a silent host still had in its hands is not laid over what was planned meanwhile" proves PLAN-25
fleet 2 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
freeze host 1
g1 is planned as "P1(T1 T2)" from version 1 at host 1
wait 20s
expect g1 owned by host 2
g1 is planned as "P1(T1 T3)" from version 1 at host 2
expect the answer about g1 is OK
thaw host 1
wait 20s
expect the plan of g1 to be "P1 queued, T1 queued, T3 queued"
expect the plan of g1 has version 2
# what names no version is done where the goal is now
T3 of g1 is started at host 1
wait 4s
expect T3 of g1 is in_progress
expect g1 owned by host 2
