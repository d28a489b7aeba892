story "A goal takes no status that there is not" proves GOAL-03
fleet 1 hosts, lease 4s
goal g1
g1 is given a status that there is not
expect the answer about g1 is E_INVALID
crash host 1
start host 1
expect g1 has status active
expect the records of g1 to be "goal.created"
