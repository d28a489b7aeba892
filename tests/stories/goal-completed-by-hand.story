story "A person completes a goal by hand and says why; no agent can"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
T1 of g1 is started
g1 is completed
expect the answer about g1 is E_CONFLICT
g1 is completed because "I think so" by the overseer
expect the answer about g1 is E_CONFLICT
g1 is completed because "I am done" by agent a7
expect the answer about g1 is E_UNAUTHORIZED
expect g1 has status active
host 1 crashes in its next commit, which is not
g1 is completed because "shipped without it"
start host 1
expect g1 has status active
g1 is asked for again
expect g1 has status completed
expect g1 has an end
expect the last goal.completed of g1 says reason "shipped without it"
expect the last goal.completed of g1 says override 1
# the work stands as it stood
expect the plan of g1 to be "P1 in_progress, T1 in_progress"
