story "A commit whose answer is lost, and which stands, is not decided again"
fleet 1 hosts, lease 4s
goal g1
host 1 loses the answer of its next commit, which is committed
host 1 hears of g1 that "half of it is done"
wait 1s
expect the answer about g1 is OK
expect g1 has 1 reports
