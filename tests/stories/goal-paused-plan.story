story "A plan that is finished while its goal is paused completes it when it goes on"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
g1 is paused
T1 of g1 is started
T1 of g1 is done because "it was almost there"
expect g1 has status paused
expect g1 is 100 percent done
crash host 1
start host 1
expect g1 has status paused
g1 is resumed
expect g1 has status completed
expect the last records of g1 to be "goal.resumed goal.completed"
