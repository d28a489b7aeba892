story "A plan that was approved after the backup waits for approval again when the store is put back"
fleet 1 hosts, lease 4s
plans need approval
goal g1
g1 is planned as "P1(T1)" by the overseer
the store is backed up
the proposed plan of g1 is approved
expect the plan of g1 has version 1
the store is put back
start host 1
expect the plan of g1 to be nothing
expect g1 is "needs you"
the proposed plan of g1 is approved
expect the plan of g1 to be "P1 queued, T1 queued"
expect the plan of g1 has version 1
