story "Only the overseer, a person or an agent that was named may change a plan" proves PLAN-23
fleet 1 hosts, lease 4s
agent ci may plan
goal g1
g1 is planned as "P1(T1)" by agent a7
expect the answer about g1 is E_UNAUTHORIZED
expect the plan of g1 to be nothing
g1 is planned as "P1(T1)" by agent ci
expect the answer about g1 is OK
a task T2 joins P1 of g1 by agent a7
expect the answer about g1 is E_UNAUTHORIZED
T1 of g1 is started by agent a7
expect the answer about g1 is E_UNAUTHORIZED
T1 of g1 is done with evidence "it works" by agent a7
expect the answer about g1 is E_UNAUTHORIZED
T1 of g1 is cancelled by agent a7
expect the answer about g1 is E_UNAUTHORIZED
T1 of g1 follows its children by agent a7
expect the answer about g1 is E_UNAUTHORIZED
crash host 1
start host 1
expect the plan of g1 to be "P1 queued, T1 queued"
expect the records of g1 to be "goal.created plan.created work.queued work.queued"
