story "A new plan leaves what is done as it is, and it is not done again" proves PLAN-24
fleet 1 hosts, lease 4m
agents auto-1
goal g1
g1 is planned as "P1(T1 T2<T1)"
at 5m   auto-1 says done with commit "1a2b"
expect T1 of g1 is done
at 6m   g1 is planned as "P1(T1 T2<T1 T3<T1)"
at 8m   expect T1 of g1 is done
expect auto-1 was sent task 3 times
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 5m
