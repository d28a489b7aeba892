story "What was running in the backup is in doubt when the store is put back, and is not done again"
fleet 1 hosts, lease 4s
hands are idle
goal g1 with command
the store is backed up
hands work
expect the command of g1 was run 1 times
expect g1 is done
the store is put back
start host 1
wait 5m
expect the command of g1 was run 1 times
expect g1 is "needs you"
expect g1 needs unconfirmed
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
