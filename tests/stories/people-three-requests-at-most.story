story "An agent waits for three answers at most, and the same words are one request" proves REQUEST-03
fleet 1 hosts, lease 20m
policy idle-after 3h
goal g1 with task T1, assigned to auto-1
auto-1 asks its parent "one?"
auto-1 asks its parent "one?"
auto-1 asks its parent "two?"
crash
auto-1 asks its parent "three?"
auto-1 asks its parent "four?"
expect g1 has 3 question.asked records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
