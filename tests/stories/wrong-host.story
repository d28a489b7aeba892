story "What reaches the wrong host is kept for the right one, and applied once"
fleet 2 hosts, lease 4s
goal g1
host 2 hears of g1 that "told to the wrong host"
expect the answer about g1 is forwarded
g1 is asked for again at host 2
wait 4s
expect g1 has 1 reports
expect g1 owned by host 1
