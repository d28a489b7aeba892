story "Cancelling a goal withdraws work that has not begun"
fleet 1 hosts, lease 4s
freeze host 1
goal g1 with command
g1 is cancelled
thaw host 1
wait 1m
crash host 1
start host 1
wait 1m
expect the command of g1 was run 0 times
expect the open effects of g1 to be ""
expect g1 is cancelled
expect the records of g1 to be "goal.created effect.decided effect.withdrawn goal.cancelled"
# what must not happen
expect no goal.needs_person, doubt, goal.completed or quarantine of g1
