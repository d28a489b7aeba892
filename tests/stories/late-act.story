story "Stopped between claim and act: it happens once, late, and its outcome settles the doubt"
fleet 2 hosts, lease 4s
hands are idle
goal g1 with command
host 1 is allowed to act and freezes
wait 8s
expect g1 owned by host 2
expect g1 needs unconfirmed
thaw host 1
wait 8s
expect the command of g1 was run 1 times
expect g1 is done
expect the records of g1 to be "goal.created effect.decided effect.claimed effect.unconfirmed effect.ended goal.completed"
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
