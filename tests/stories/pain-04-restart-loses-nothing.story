story "Restart loses in-flight work: agents outlive the daemon, and no agent is started twice" proves TICK-16 TICK-17 ASSIGN-10
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 works
at 10m  crash
at 15m  crash
at 2h   expect assignment of T1 active
expect auto-1 was started 1 times
expect nudge auto-1 #0
auto-1 says done with commit "1a2b"
expect g1 is done
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 2h
