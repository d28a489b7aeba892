story "Only what is over is archived, and what is archived stays so"
fleet 1 hosts, lease 4s
goal g1
g1 is archived
expect the answer about g1 is E_CONFLICT
g1 is paused
g1 is archived
expect the answer about g1 is E_CONFLICT
g1 is resumed
g1 is completed because "done elsewhere"
g1 is archived by the overseer
expect g1 is archived
crash host 1
start host 1
g1 is opened again because "not yet"
expect the answer about g1 is E_CONFLICT
g1 is archived
# it is, so there is nothing to do
expect the answer about g1 is OK
expect the records of g1 to be "goal.created goal.paused goal.resumed goal.completed goal.archived"
