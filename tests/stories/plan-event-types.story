story "A plan is created once, updated by new plans and finished tasks, and reviewed on request" proves PLAN-22
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
expect the records of g1 to be "goal.created plan.created work.queued work.queued work.queued"
T1 of g1 is done because "checked"
expect the last records of g1 to be "work.done plan.updated work.started"
expect the last plan.updated of g1 says why task_completed
expect the last plan.updated of g1 says node T1
a review is requested of the plan of g1 because "T2 is not needed" by agent a7
expect the last records of g1 to be "plan.review_needed"
expect the last plan.review_needed of g1 says actor a7
a review is requested of the plan of g1 because "I mean it" by agent a8
# it is asked once
expect g1 has 1 plan.review_needed records
crash host 1
start host 1
expect g1 is "needs you"
g1 is planned as "P1(T1)"
expect g1 is done
expect g1 has 2 plan.updated records
