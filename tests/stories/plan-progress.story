story "Progress is that of the plan at every moment: of the goal, its phases and its tasks" proves PLAN-16
fleet 1 hosts, lease 4s
everybody crashes and starts again after each request
goal g1
g1 is planned as "P1(T1(S1 S2 S3 S4)) P2(T2(S5 S6 S7 S8))"
S1 of g1 is done because "checked"
expect T1 of g1 is 25 percent done
expect P1 of g1 is 25 percent done
expect P2 of g1 is 0 percent done
expect g1 is 12 percent done
# what is cancelled does not count
S2 of g1 is cancelled
expect T1 of g1 is 33 percent done
S3 of g1 is done because "checked"
S4 of g1 is done because "checked"
expect T1 of g1 is 100 percent done
expect g1 is 42 percent done
# a task that a person calls done is done as a whole
T2 of g1 is done because "bought instead"
expect g1 is 100 percent done
expect g1 has status completed
