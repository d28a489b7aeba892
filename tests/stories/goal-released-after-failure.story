story "A failed command asks a person, who says what was found; it is never run again by itself"
fleet 1 hosts, lease 4s
commands end with 3
goal g1 with command
expect g1 needs failed
g1 is released
expect the answer about g1 is E_INVALID
g1 is released because "seen" by the overseer
expect the answer about g1 is E_UNAUTHORIZED
expect g1 needs failed
g1 is released because "the disk was full"
expect g1 needs nothing
expect g1 is queued
expect the last goal.released of g1 says reason "the disk was full"
expect the last goal.released of g1 says actor ada
crash host 1
start host 1
wait 5m
expect the command of g1 was run 1 times
expect g1 is queued
# what must not happen
expect no doubt, goal.completed, goal.cancelled, effect.withdrawn or quarantine of g1
