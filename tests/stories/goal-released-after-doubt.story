story "An effect whose outcome cannot be known is ended by a person, once, and is not done again"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
the machine of host 1 goes off
hands work
start host 1
wait 1m
expect g1 needs unconfirmed
g1 is released because "it is in the log: it ran"
expect the open effects of g1 to be ""
g1 is asked for again
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.unconfirmed effect.ended goal.released"
crash host 1
start host 1
wait 5m
expect the command of g1 was run 0 times
expect g1 needs nothing
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
