story "A goal that a person changes in the store is read again, not overwritten" proves STORE-06
fleet 1 hosts, lease 4s
goal g1
host 1 hears of g1 that "one"
a person changes the goal by hand
host 1 hears of g1 that "two"
expect the answer about g1 is OK
expect the records of g1 to be "goal.created goal.reported goal.reported goal.reported"
