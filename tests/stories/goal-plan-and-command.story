story "A goal with a plan and a command is completed when both are done"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
g1 is planned as "P1(T1)"
T1 of g1 is started
T1 of g1 is done with evidence "commit 1a2b" by the overseer
expect g1 is 100 percent done
expect g1 has status active
expect g1 is working
hands work
expect g1 has status completed
expect the last records of g1 to be "effect.ended goal.completed"
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
