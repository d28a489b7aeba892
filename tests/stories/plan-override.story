story "An override of a status needs a reason; the reason and the name of the person are kept" proves EVENT-08
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2) T2)"
T1 of g1 is done
expect the answer about g1 is E_INVALID
expect T1 of g1 is queued
T1 of g1 is done because "the vendor did it"
expect the plan of g1 to be "P1 in_progress, T1 done, S1 todo, S2 todo, T2 queued"
expect the last work.done of T1 of g1 says reason "the vendor did it"
expect the last work.done of T1 of g1 says actor ada
expect the last work.done of T1 of g1 says override 1
crash host 1
start host 1
T2 of g1 is set to done by the overseer
expect the answer about g1 is E_INVALID
T2 of g1 is set to done because "not wanted any more" by the overseer
expect g1 has status completed
expect the last work.done of T2 of g1 says actor overseer
expect the last work.done of T2 of g1 says reason "not wanted any more"
# the phase only followed
expect the last work.done of P1 of g1 says override 0
expect the last records of g1 to be "work.done plan.updated work.done goal.completed"
expect the last goal.completed of g1 says by overseer
