story "One goal, one command, one outcome" proves EVENT-08 GOAL-02
fleet 1 hosts, lease 4s
goal g1 with command
expect the answer about g1 is OK
expect the command of g1 was run 1 times
expect g1 is done
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.ended goal.completed"
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
