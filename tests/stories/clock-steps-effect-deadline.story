story "The clock steps while a command runs: its outcome is waited for as long as before, no less and no more" proves ASSIGN-10
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
goal g2 with command
expect g1 is working
# act-within is 50 leases here
wait 1m
the clock steps ahead by 8760h
wait 1m
the clock steps back by 17520h
wait 1m
expect g1 is working
wait 1m
expect g1 is "needs you"
expect g1 needs unconfirmed
expect g2 needs unconfirmed
expect the records of g1 to be "goal.created effect.decided effect.claimed clock.stepped clock.stepped effect.unconfirmed"
expect no effect.withdrawn, quarantine or goal.cancelled of g1
expect no effect.withdrawn, quarantine or goal.cancelled of g2
