story "Endless retry storm: everything that is sent for one piece of work has a cap, for all agents together" proves RECOVER-08
fleet 1 hosts, lease 20m
agents auto-1, auto-2, auto-3
policy max-attempts 5, max-retries 3, max-restarts 100, restart-window 100h, reassign allowed
goal g1 with task T1, assigned to auto-1
at 24h  expect g1 asks 1 questions
at 72h  expect nothing
expect assignment of T1 blocked
expect the last assignment.blocked of g1 says rule "ladder.ask"
# what must not happen
expect no resend, landing or doubt of g1
expect no stall or nudge of g1 before 15m
expect no reassignment or stop of g1 before 35m
expect no question of g1 before 50m
