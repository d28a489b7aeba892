story "A person's word in place of evidence is on the record as an override" proves PLAN-15 EVENT-08
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2))"
S1 of g1 is started
S1 of g1 is done because "I looked at it"
expect the last work.done of g1 says override 1
expect the last work.done of g1 says reason "I looked at it"
expect the last work.done of g1 says actor ada
expect the last work.done of g1 says by human
S2 of g1 is started by the overseer
expect the last work.started of g1 says by overseer
expect the last work.started of g1 says override 0
