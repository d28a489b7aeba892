story "A machine that was off for a night continues the check that it was in, and asks no person" proves VERIFY-01
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands no
goal g1 with task T1, assigned to auto-1
checks say passed
at 5m   hands are idle
auto-1 says done with commit abc
crash host 1
wait 12h
hands work
start host 1
wait 2m
expect T1 of g1 is done
expect g1 has 1 work.checked records
expect g1 has 1 effect.renewed records
expect no stall, nudge, resend, reassignment, landing, question or doubt of g1
