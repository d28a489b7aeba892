story "Five questions a minute are five, also when the daemon is started again in between" proves REQUEST-02
fleet 1 hosts, lease 4m
policy undo-for 0s
goal g1 with task T1, assigned to auto-1
auto-1 asks a person "one?"
the person answers g1 with "yes"
auto-1 asks a person "two?"
the person answers g1 with "yes"
auto-1 asks a person "three?"
the person answers g1 with "yes"
crash
auto-1 asks a person "four?"
the person answers g1 with "yes"
auto-1 asks a person "five?"
the person answers g1 with "yes"
auto-1 asks a person "six?"
expect g1 has 5 question.asked records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
