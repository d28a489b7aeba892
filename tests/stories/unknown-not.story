story "A commit whose answer is lost, and which does not stand, is sent again as it was"
fleet 1 hosts, lease 4s
goal g1
host 1 loses the answer of its next commit, which is not
host 1 hears of g1 that "half of it is done"
wait 1s
expect the answer about g1 is OK
expect g1 has 1 reports
