story "Our own example is not the agent's update, also when an agent sends it back" proves UPDATE-01 UPDATE-07
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
at 15m  expect nudge auto-1 #1
auto-1 sends back what it was told
another sender writes to auto-1 "~~~json|{'overseerUpdate': {'status': 'done', 'evidence': {'commits': ['1a2b']}}}|~~~"
expect g1 has 0 assignment.done records
expect T1 of g1 is in_progress
expect g1 has 0 update.taken records
# what must not happen
expect no resend, reassignment, stop, landing, question or doubt of g1
expect no stall or nudge of g1 before 15m
