story "A block with an unknown key is refused as a whole, on the record" proves UPDATE-05
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 replies "~~~json|{'overseerUpdate': {'status': 'done', 'trustMe': true, 'evidence': {'commits': ['1a2b']}}}|~~~"
expect T1 of g1 is in_progress
expect g1 has 1 update.refused records
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing, question or doubt of g1
