story "A command that never began is not run for a goal that was cancelled" proves STORE-02
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
g1 is cancelled because "wrong branch"
crash host 1
hands work
start host 1
wait 1m
expect the command of g1 was run 0 times
expect g1 is cancelled
expect g1 needs nothing
expect the open effects of g1 to be ""
# what must not happen
expect no goal.needs_person, doubt, stall, nudge, resend, reassignment, stop, landing or question of g1
