story "An agent moves no goal, and leaves nothing behind when it tries" proves PLAN-23
fleet 1 hosts, lease 4s
agent ci may plan
goal g1
g1 is paused by agent a7
expect the answer about g1 is E_UNAUTHORIZED
g1 is cancelled by agent ci
expect the answer about g1 is E_UNAUTHORIZED
g1 is completed because "all done" by agent ci
expect the answer about g1 is E_UNAUTHORIZED
g1 is called "mine" by agent a7
expect the answer about g1 is E_UNAUTHORIZED
g1 is released because "fine" by agent a7
expect the answer about g1 is E_UNAUTHORIZED
crash host 1
start host 1
expect g1 has status active
expect the records of g1 to be "goal.created"
