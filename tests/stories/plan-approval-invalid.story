story "A plan that could never be applied is refused at once, not at its approval" proves PLAN-24
fleet 1 hosts, lease 4s
plans need approval
goal g1
g1 is planned as "P1<P2 P2<P1" by the overseer
expect the answer about g1 is E_INVALID_PLAN
expect g1 is queued
expect the records of g1 to be "goal.created"
