story "A crash before the claim loses nothing: the command runs once, afterwards" proves STORE-02
fleet 1 hosts, lease 4s
host 1 loses the answer of its next commit, which is committed
freeze host 1
goal g1 with command
thaw host 1
wait 1s
crash host 1
start host 1
wait 1m
expect the command of g1 was run 1 times
expect g1 is done
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
