story "A cancelled goal whose command is lost with its machine says so, and does not run it again"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
g1 is cancelled because "wrong branch"
the machine of host 1 goes off
hands work
start host 1
wait 1m
expect the command of g1 was run 0 times
expect g1 is cancelled
expect g1 needs unconfirmed
g1 is released because "looked: it never began"
expect the open effects of g1 to be ""
g1 is archived
expect g1 is archived
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
