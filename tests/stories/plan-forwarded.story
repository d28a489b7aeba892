story "A plan told to the wrong host is kept for the right one, and applied once"
fleet 2 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2))" at host 2
expect the answer about g1 is forwarded
g1 is asked for again at host 2
wait 4s
g1 is asked for again at host 1
expect the plan of g1 to be "P1 queued, T1 queued, S1 queued, S2 queued"
expect the plan of g1 has version 1
expect g1 owned by host 1
S1 of g1 is started at host 2
wait 4s
g1 is paused at host 2
wait 4s
expect S1 of g1 is in_progress
expect g1 is paused
expect the last records of g1 to be "work.started work.started work.started goal.paused"
