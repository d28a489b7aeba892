story "The supervisor has a pace: so many actions in a minute, and the rest in the next" proves TICK-25 TICK-21
fleet 1 hosts, lease 20s
agents auto-1
policy actions-per-minute 4, most-per-goal 20, idle-after 10h
goal g1
g1 is planned as "P1(T1 T2 T3 T4 T5 T6 T7 T8 T9 T10)"
expect auto-1 was started 1 times
at 1m   expect auto-1 was started 5 times
at 5m   expect auto-1 was started 10 times
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
