story "A host that lost its lease before it was allowed to act never acts"
fleet 2 hosts, lease 4s
hands are idle
goal g1 with command
freeze host 1
wait 8s
expect g1 owned by host 2
hands work
thaw host 1
wait 20s
expect the command of g1 was run 0 times
expect g1 needs unconfirmed
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
