story "A stop whose answer is lost and that comes late is fenced: it does not stop what was resumed meanwhile"
fleet 2 hosts, lease 4s
host 1 loses the answer of its next commit, which is later
host 1 is told to stop the fleet
wait 5s
expect the fleet is stopped
host 2 is told to resume the fleet
wait 5s
expect the fleet is going
ghosts go on
wait 5s
expect the fleet is going
goal g1 with command at host 1
expect the command of g1 was run 1 times
expect the orders to be "overseer.stopped overseer.resumed"
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
