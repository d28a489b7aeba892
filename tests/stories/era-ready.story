story "What was ready in the backup and done after it is not done again when the store is put back"
fleet 1 hosts, lease 4s
freeze host 1
goal g1 with command
g1 is paused
thaw host 1
expect the open effects of g1 to be ready
the store is backed up
g1 is resumed
expect the command of g1 was run 1 times
expect g1 is done
the store is put back
start host 1
wait 1m
expect g1 has status paused
g1 is resumed
wait 5m
expect the command of g1 was run 1 times
expect g1 needs unconfirmed
expect the last effect.unconfirmed of g1 says rule "store.restored"
crash host 1
start host 1
g1 is released because "the log shows that it ran"
wait 1m
expect the command of g1 was run 1 times
expect g1 is queued
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or question of g1
