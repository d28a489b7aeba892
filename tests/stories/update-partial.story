story "An update that says only what changed changes only that" proves UPDATE-03
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 replies "~~~json|{'overseerUpdate': {'summary': 'the lexer works'}}|~~~"
expect T1 of g1 is in_progress
expect g1 has 1 update.taken records
expect g1 has 1 rows of crystallization
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
