story "Who takes over hears what the one before left" proves CRYSTAL-06
fleet 1 hosts, lease 4m
agents auto-1, auto-2
policy idle-after 15m, max-retries 1, reassign allowed
goal g1 with task T1, assigned to auto-1
at 5m   auto-1 reports "the lexer is done, the parser is not"
at 70m  expect auto-2 works on T1
expect auto-2 was told "the lexer is done, the parser is not"
