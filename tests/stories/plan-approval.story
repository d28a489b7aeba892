story "With approval on, what the overseer plans waits for a person; a better proposal takes its place"
fleet 1 hosts, lease 4s
plans need approval
goal g1
g1 is planned as "P1(T1)" by the overseer
expect the answer about g1 is OK
expect the plan of g1 to be nothing shows PLAN-33.a
expect the plan of g1 has version 0
expect g1 is "needs you"
the proposed plan of g1 is approved by the overseer
expect the answer about g1 is E_UNAUTHORIZED
crash host 1
start host 1
g1 is planned as "P1(T1 T2)" by the overseer because "asked to be finer"
# what was seen before is not what waits now
the proposed plan of g1 is approved as "P1(T1)"
expect the answer about g1 is E_CONFLICT
host 1 crashes in its next commit, which is not
the proposed plan of g1 is approved
start host 1
expect the plan of g1 to be nothing
g1 is asked for again
expect the plan of g1 to be "P1 queued, T1 queued, T2 queued" shows PLAN-33.b
expect the plan of g1 has version 1
expect g1 is queued
expect g1 has 2 plan.review_needed records shows PLAN-33.c
expect g1 has 1 plan.approved records
