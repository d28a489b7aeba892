story "Each version of a plan says who made it and why, in words and as a code"
fleet 1 hosts, lease 4s
agent ci may plan
goal g1
g1 is planned as "P1(T1)" by the overseer
expect the last plan.created of g1 says by overseer
expect the last plan.created of g1 says why initial_create
g1 is planned as "P1(T1 T2)" by the overseer because "T1 is too large"
expect the last plan.updated of g1 says why replan
expect the last plan.updated of g1 says reason "T1 is too large"
g1 is planned as "P1(T1 T2 T3)" for guard_violation by the overseer
expect the last plan.updated of g1 says why guard_violation
g1 is planned as "P1(T1 T2)"
expect the last plan.updated of g1 says by human
expect the last plan.updated of g1 says why human_edit
g1 is planned as "P1(T1)" by agent ci
expect the last plan.updated of g1 says by agent
expect the last plan.updated of g1 says actor ci
crash host 1
start host 1
expect g1 has 4 plan.updated records
