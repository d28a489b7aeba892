story "No host takes over the fleet after an outage of all hosts"
fleet 3 hosts, lease 4s
goal g1
freeze host 1
freeze host 2
freeze host 3
wait 1m
thaw host 1
thaw host 2
thaw host 3
wait 10s
expect g1 owned by host 1
