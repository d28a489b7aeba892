story "Of several blocks the last one counts" proves UPDATE-04
fleet 1 hosts, lease 4m
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 replies "~~~json|{'overseerUpdate': {'status': 'blocked', 'blockers': ['x']}}|~~~|then|~~~json|{'overseerUpdate': {'status': 'done', 'evidence': {'commits': ['1a2b']}}}|~~~"
expect T1 of g1 is done
expect g1 asks nothing
# what must not happen
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
expect no stop of g1 before 5m
