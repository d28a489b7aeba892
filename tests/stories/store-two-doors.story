story "A person, another host and a command that ends write to one goal at once, and nothing is lost" proves STORE-06
fleet 2 hosts, lease 4s
hands are idle
goal g1 with command
g1 is planned as "P1(T1 T2 T3)"
freeze host 1
T1 of g1 is done because "checked" at host 1
T2 of g1 is done because "checked" at host 2
host 2 hears of g1 that "half of it"
host 1 hears of g1 that "more than half"
hands work
thaw host 1
wait 8s
expect the plan of g1 to be "P1 in_progress, T1 done, T2 done, T3 queued"
expect g1 has 2 reports
expect g1 has 1 effect.ended records
expect the plan of g1 has version 3
T3 of g1 is done because "checked"
expect g1 has status completed
# what must not happen
expect no goal.needs_person, doubt, goal.cancelled, effect.withdrawn or quarantine of g1
