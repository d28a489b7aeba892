story "It wants to act on a large share of the fleet at once: it suspends itself and asks a person" proves TICK-25
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 0, reassign allowed, blast-share 30, blast-least 2, most-per-goal 20
goal g1
g1 is planned as "P1(T1 T2 T3 T4 T5 T6 T7 T8 T9 T10)"
at 60m  expect "desk 1" asks 1 questions
expect auto-2 was started 0 times
expect auto-1 was stopped 3 times
# what must not happen
expect no nudge, resend, landing, question or doubt of g1
expect no stall, reassignment or stop of g1 before 15m
