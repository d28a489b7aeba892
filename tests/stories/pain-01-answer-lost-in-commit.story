story "A report whose commit lost its answer is applied once" proves STORE-02 TICK-17
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   host 1 loses the answer of its next commit, which is committed
auto-1 says done with commit "1a2b"
at 15m  expect g1 is done
expect g1 has 1 update.taken records
expect g1 has 1 assignment.done records
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 5m
