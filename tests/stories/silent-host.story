story "A host that falls silent is taken over within its lease, and comes back without harm"
fleet 2 hosts, lease 4s
goal g1
goal g2 with command at host 2
freeze host 1
at 00:03 expect g1 owned by host 1
at 00:07 expect g1 owned by host 2
host 2 hears of g1 that "it goes on here"
expect the answer about g1 is OK
thaw host 1
wait 10s
expect g1 owned by host 2
host 1 hears of g1 that "and there"
wait 10s
expect g1 has 2 reports
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g2
