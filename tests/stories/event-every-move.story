story "Every move of a goal, a node, a plan and an effect is a record, whatever crashes in between" proves EVENT-04 STORE-02
fleet 1 hosts, lease 4s
everybody crashes and starts again after each request
freeze host 1
goal g1 with command
g1 is paused
thaw host 1
g1 is planned as "P1(T1 T2)"
T1 of g1 is started
T1 of g1 is blocked by person because "which one?"
T1 of g1 is unblocked
T1 of g1 is set to done because "both"
T2 of g1 is cancelled
expect the records of g1 to be "goal.created effect.decided goal.paused plan.created work.queued work.queued work.queued work.started work.started work.blocked work.queued work.queued work.done plan.updated work.started work.cancelled work.done"
g1 is resumed
expect the last records of g1 to be "goal.resumed effect.claimed effect.ended goal.completed"
g1 is opened again because "one more look"
g1 is completed because "looked"
g1 is archived
expect the last records of g1 to be "goal.completed goal.reopened goal.completed goal.archived"
expect the command of g1 was run 1 times
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
