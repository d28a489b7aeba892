story "Five questions a minute are five, also when the daemon is started again in between" proves REQUEST-02
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
auto-1 asks a person "one?"
auto-1 asks a person "two?"
crash
auto-1 asks a person "three?"
auto-1 asks a person "four?"
expect g1 has 3 question.asked records
