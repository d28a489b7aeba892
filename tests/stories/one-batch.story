story "A goal and the first report on it may come in one batch"
fleet 1 hosts, lease 4s
freeze host 1
goal g1 and a report on it in one batch
thaw host 1
wait 1s
expect the answer about g1 is OK
expect g1 has 1 reports
expect g1 is queued
