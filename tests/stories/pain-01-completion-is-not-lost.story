story "Completion silently lost: what an agent reports while its host is down is heard when it is up again, once" proves STORE-02 TICK-17
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   crash host 1
auto-1 says done with commit "1a2b"
at 8m   start host 1
at 10m  expect T1 of g1 is done
expect g1 is done
expect g1 has 1 assignment.done records
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 8m
