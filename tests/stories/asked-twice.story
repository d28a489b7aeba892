story "Asking twice with one key makes one goal and runs its command once"
fleet 2 hosts, lease 4s
goal g1 with command
g1 is asked for again at host 1
g1 is asked for again at host 2
expect the answer about g1 is OK
expect the command of g1 was run 1 times
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.ended goal.completed"
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
