story "An order that is repeated, or whose answer is lost, is on the record once"
fleet 2 hosts, lease 4s
host 1 loses the answer of its next commit, which is committed
host 1 is told to stop the fleet
wait 5s
expect the fleet is stopped
host 2 is told to stop the fleet
wait 5s
expect the orders to be "overseer.stopped"
host 1 loses the answer of its next commit, which is not
host 1 is told to resume the fleet
wait 5s
expect the fleet is going
host 2 is told to resume the fleet
wait 5s
expect the orders to be "overseer.stopped overseer.resumed"
