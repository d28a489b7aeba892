story "A machine that was off for a night continues the landing that it was in, and asks no person" proves VERIFY-22
fleet 1 hosts, lease 4m
policy idle-after 15m, checks yes, lands yes, verify-by-person yes, undo-for 0s
goal g1 with task T1, assigned to auto-1
checks say passed
landing says landed
at 5m   auto-1 says done with commit abc
at 6m   expect question g1 "T1 is done, says auto-1"
hands are idle
the person answers g1 with 1
wait 1m
crash host 1
wait 12h
hands work
start host 1
wait 5m
expect T1 of g1 is done
expect g1 has 1 work.landed records
expect g1 has 1 effect.renewed records
expect no stall, nudge, resend, reassignment or doubt of g1
