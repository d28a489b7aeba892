story "A plan that was stored for a host that then dies is applied once, by the host that takes over"
fleet 2 hosts, lease 4s
goal g1
freeze host 1
g1 is planned as "P1(T1)" at host 2
expect the answer about g1 is forwarded
crash host 1
expect the plan of g1 to be nothing
wait 20s
expect g1 owned by host 2
expect the plan of g1 to be "P1 queued, T1 queued"
thaw host 1
start host 1
g1 is asked for again at host 1
wait 20s
expect the plan of g1 has version 1
expect g1 has 1 plan.created records
