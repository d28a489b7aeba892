story "A goal that was opened again stays open until something of it is done anew"
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1)"
T1 of g1 is done because "checked"
g1 is opened again because "it came back"
g1 is paused
g1 is resumed
expect g1 has status active
T1 of g1 is set to queued because "it is broken again"
T1 of g1 is done because "mended"
expect g1 has status completed
