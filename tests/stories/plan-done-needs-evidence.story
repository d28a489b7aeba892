story "Nothing is done on a word: the overseer brings evidence, an agent too, a person stands for it by name" proves PLAN-15
fleet 1 hosts, lease 4s
agent ci may plan
goal g1
g1 is planned as "P1(T1 T2 T3)"
T1 of g1 is started by the overseer
T1 of g1 is done by the overseer
expect the answer about g1 is E_INVALID
T1 of g1 is done with evidence "commit 1a2b" by the overseer
expect T1 of g1 is done
expect the last work.done of g1 says text "commit 1a2b"
expect the last work.done of g1 says override 0
T2 of g1 is started by agent ci
T2 of g1 is done by agent ci
expect the answer about g1 is E_INVALID
T2 of g1 is set to done because "trust me" by agent ci
expect the answer about g1 is E_UNAUTHORIZED
T2 of g1 is done with evidence "all 90 tests pass" by agent ci
expect the last work.done of g1 says actor ci
expect the last work.done of g1 says by agent
crash host 1
start host 1
T3 of g1 is started
T3 of g1 is done because "I looked at it"
expect g1 has status completed
