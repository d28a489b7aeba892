story "A record of what a person does by hand has that person's name, also when another host writes it" proves EVENT-08
fleet 2 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)" by the overseer at host 2
wait 4s
expect the last plan.created of g1 says actor overseer
T1 of g1 is done because "seen" at host 2
wait 4s
expect the last work.done of g1 says actor ada
expect the last work.done of g1 says by human
g1 is paused because "lunch" by the overseer
expect the last goal.paused of g1 says actor overseer
g1 is cancelled because "moved" at host 2
crash host 1
wait 20s
expect the last goal.cancelled of g1 says actor ada
expect the last goal.cancelled of g1 says reason "moved"
