story "Cancelling a task cancels what is open below it; what is done stays done"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1(S1 S2 S3<S2) T2)"
S1 of g1 is done because "checked"
S2 of g1 is started
T1 of g1 is cancelled because "another team has it" by the overseer
expect the plan of g1 to be "P1 queued, T1 cancelled, S1 done, S2 cancelled, S3 cancelled, T2 queued"
expect the last work.cancelled of g1 says reason "another team has it"
crash host 1
start host 1
expect the plan of g1 to be "P1 queued, T1 cancelled, S1 done, S2 cancelled, S3 cancelled, T2 queued"
