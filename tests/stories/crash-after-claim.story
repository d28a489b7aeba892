story "A machine that goes off between the claim and the act leaves the effect unconfirmed, never repeated" proves STORE-02
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
expect g1 is working
the machine of host 1 goes off
hands work
start host 1
wait 2m
expect the command of g1 was run 0 times
expect g1 needs unconfirmed
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.unconfirmed"
crash host 1
start host 1
wait 2m
# said once, however often the host starts
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.unconfirmed"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
