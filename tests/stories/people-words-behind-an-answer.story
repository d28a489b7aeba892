story "What a person said counts before done does, also behind an answer that waits" proves ESCALATE-14
fleet 1 hosts, lease 4m
policy idle-after 60m, undo-for 0s
goal g1 with task T1, assigned to auto-1
at 5m    auto-1 asks a person "which database?"
auto-1 shows a dialog
expect g1 asks 2 questions
the person answers Q1 of g1 with "the small one"
the person tells auto-1 "use tabs"
at 6m    auto-1 says done with commit abc
at 7m    expect T1 of g1 is in_progress
# what must not happen
expect no stall, nudge, resend, reassignment, stop, landing or doubt of g1
expect no question of g1 before 5m
