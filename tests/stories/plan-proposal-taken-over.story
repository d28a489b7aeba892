story "A plan that waits for approval waits at the host that takes over, too"
fleet 2 hosts, lease 4s
plans need approval
goal g1
g1 is planned as "P1(T1)" by the overseer
crash host 1
wait 20s
expect g1 owned by host 2
expect g1 is "needs you"
expect the plan of g1 to be nothing
start host 1
# told to the wrong host, and done by the right one
the proposed plan of g1 is approved at host 1
expect the answer about g1 is forwarded
g1 is asked for again at host 2
wait 8s
expect the plan of g1 to be "P1 queued, T1 queued"
expect g1 has 1 plan.approved records
expect the last plan.approved of g1 says actor ada
