story "Work that joins below what is done opens it again, and all above it"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1)) P2(T2)"
S1 of g1 is done because "checked"
expect the plan of g1 to be "P1 done, T1 done, S1 done, P2 queued, T2 queued"
host 1 crashes in its next commit, which is not
a subtask S2 joins T1 of g1
start host 1
expect P1 of g1 is done
g1 is asked for again
expect the plan of g1 to be "P1 in_progress, T1 in_progress, S1 done, S2 queued, P2 queued, T2 queued"
expect g1 is 33 percent done
expect the last plan.updated of g1 says text "added: S2; removed: ; changed: "
S2 of g1 is done because "checked"
expect P1 of g1 is done
# done twice is two versions more
expect the plan of g1 has version 4
