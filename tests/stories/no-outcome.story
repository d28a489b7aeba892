story "A command that never reports back is unconfirmed at its deadline" proves ASSIGN-10
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
expect g1 is working
# act-within is 50 leases here
wait 3m
expect g1 is working
wait 1m
expect g1 is "needs you"
expect g1 needs unconfirmed
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.unconfirmed"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
