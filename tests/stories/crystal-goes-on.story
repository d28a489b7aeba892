story "Who takes over hears what the one before left" proves CRYSTAL-06
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 1, reassign allowed
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 reports "the lexer is done, the parser is not"
at 70m  expect auto-2 works on T1
expect auto-2 was told "the lexer is done, the parser is not"
# what must not happen
expect no resend, landing or doubt of g1
expect no stall or nudge of g1 before 20m
expect no reassignment or stop of g1 before 22m
expect no question of g1 before 39m
