story "A goal is renamed by a person, once, whatever happens to the answer" proves EVENT-08
fleet 1 hosts, lease 4s
goal g1
host 1 crashes in its next commit, which is committed
g1 is called "another name" because "it was misleading"
start host 1
g1 is asked for again
expect the answer about g1 is OK
expect the records of g1 to be "goal.created goal.updated"
expect the last goal.updated of g1 says text "another name"
expect the last goal.updated of g1 says actor ada
expect the last goal.updated of g1 says reason "it was misleading"
