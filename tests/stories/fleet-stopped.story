story "A stopped fleet begins nothing, not even after a crash; resumed, everything is done once"
fleet 2 hosts, lease 4s
goal g0 with command at host 1
expect g0 is done
host 1 is told to stop the fleet
expect the fleet is stopped
goal g1 with command at host 1
wait 5s
goal g2 with command at host 2
wait 5m
expect the command of g1 was run 0 times
expect the command of g2 was run 0 times
expect the open effects of g1 to be ready
host 1 hears of g1 that "deciding and recording go on"
expect g1 has 1 reports
crash host 1
crash host 2
start host 1
start host 2
wait 5m
expect the fleet is stopped
expect the command of g1 was run 0 times
expect the command of g2 was run 0 times
host 2 is told to resume the fleet
wait 10s
expect the fleet is going
expect the command of g1 was run 1 times
expect the command of g2 was run 1 times
expect g1 is done
expect g2 is done
expect the orders to be "overseer.stopped overseer.resumed"
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g0
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g2
