story "Only who is silent for too long is read: it is slow, has failed, or waits for a person"
fleet 1 hosts, lease 4m
agents auto-1, auto-2, auto-3, auto-4
policy idle-after 15m, turn-most 20m, idle-in-tool 20m, context-most 0, reassign forbidden
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
goal g3 with task T3, assigned to auto-3
goal g4 with task T4, assigned to auto-4
auto-1 opens a tool
auto-2 shows a dialog that no hook reports
the window of auto-3 is 100 percent full
auto-4 works
at 30m  expect the last agent.seen of g1 says to slow shows TICK-07.c
expect the last agent.seen of g2 says to "waits for a person" shows TICK-07.c
expect the last agent.seen of g3 says to failed shows TICK-07.c
expect question g2 "waits for a person"
expect no look before 15m
expect no nudge of g2
expect no stall, look, nudge, resend, stop or question of g4 shows TICK-07.a
expect no reassignment, landing or doubt
