story "With two pieces of work and no trigger, no guess is made which one an update is about" proves UPDATE-06
fleet 1 hosts, lease 4m
agents auto-1
goal g1
g1 is planned as "P1(T1 T2)"
at 5m   auto-1 replies unasked "~~~json|{'overseerUpdate': {'status': 'done', 'evidence': {'commits': ['1a2b']}}}|~~~"
expect T1 of g1 is in_progress
expect T2 of g1 is in_progress
expect g1 has 1 update.held records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
