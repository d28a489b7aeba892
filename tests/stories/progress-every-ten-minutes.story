story "An agent that says every ten minutes how far it is has not fallen silent for forty hours, and its newest word is shown" proves PROGRESS-05 PROGRESS-09 TICK-13
fleet 1 hosts, lease 4m
policy idle-after 15m
goal g1 with task T1, assigned to auto-1
auto-1 is 10 percent through "reading" every 10m until 20h
expect no stall, nudge, look or question of g1
auto-1 is 40 percent through "writing" every 10m until 39h30m
crash host 1
start host 1
expect assignment of T1 has percentComplete 41
auto-1 is 90 percent through "testing" every 10m until 40h
expect assignment of T1 has percentComplete 91
expect assignment of T1 has phase "testing"
expect no stall, nudge, look, question, stop or quarantine of g1 before 40h
# 240 reports: at most 100 entries of history, and nothing else is written for them
expect at most 120 records of g1
# silence is still noticed
expect no stall, nudge or look of g1 until 40h14m
at 40h16m  expect assignment of T1 stalled
