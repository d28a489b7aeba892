story "A finished plan does not hide that the outcome of a command is unknown"
fleet 2 hosts, lease 4s
hands are idle
goal g1 with command
g1 is planned as "P1(T1)"
crash host 1
hands work
wait 20s
expect g1 owned by host 2
expect g1 needs unconfirmed
T1 of g1 is done because "checked" at host 2
expect g1 has status active
start host 1
g1 is released because "it had run" at host 1
wait 8s
expect g1 has status completed
expect the command of g1 was run 0 times
expect the last records of g1 to be "effect.ended goal.released goal.completed"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
