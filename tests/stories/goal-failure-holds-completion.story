story "A goal whose command failed is not called done, however finished its plan is"
fleet 1 hosts, lease 4s
commands end with 1
goal g1 with command
g1 is planned as "P1(T1)"
T1 of g1 is done because "checked"
expect g1 is 100 percent done
expect g1 has status active
expect g1 is "needs you"
crash host 1
start host 1
expect g1 has status active
g1 is released because "that command was only a lint"
expect g1 has status completed
# what must not happen
expect no doubt, goal.cancelled, effect.withdrawn or quarantine of g1
