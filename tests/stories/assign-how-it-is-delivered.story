story "Work begins with a run of its own, words go to the session that has it, and what a person has to decide goes to a person" proves ASSIGN-17
fleet 1 hosts, lease 20m
agents auto-1, auto-2, auto-3, auto-4, auto-5, auto-6, auto-7
policy idle-after 15m, max-retries 2, reassign forbidden, planner none, verify-by-person yes, request-raise 15m
# self-contained work, in parallel: runs of their own
goal g1 with task T1, assigned to auto-1
goal g2 with task T2, assigned to auto-2
expect the dispatches of g1 to be "sessions_spawn accepted"
expect the dispatches of g2 to be "sessions_spawn accepted"
# how does it stand? the session that has the work
at 16m  expect the dispatches of g1 to be "sessions_spawn accepted, sessions_send accepted"
expect auto-1 was started 1 times
# retries ran out
at 2h   expect question g1 "no progress after 2 nudges"
expect g2 asks 1 questions
# credential, environment, choice: the agent names what is in the way
goal g3 with task T3, assigned to auto-3
goal g4 with task T4, assigned to auto-4
goal g5 with task T5, assigned to auto-5
auto-3 says that "the key for the mail service" is in the way
auto-4 says that "there is no compiler here" is in the way
auto-5 asks a person "which of the two?"
expect question g3 "the key for the mail service"
expect question g4 "there is no compiler here"
expect question g5 "which of the two?"
# approval
goal g6 with task T6, assigned to auto-6
auto-6 says done with commit "1a2b"
expect g6 asks 1 questions
# it says itself that it waits for a person
goal g7 with task T7, assigned to auto-7
auto-7 shows a dialog
expect question g7 "waits for a person"
# what was decided goes back to the session that waits for it
the person answers g5 with "the second"
wait 10m
expect auto-5 was sent answer 1 times
expect auto-5 was started 1 times
expect the dispatches of g5 to be "sessions_spawn accepted, sessions_send accepted"
# an agent that waits for a person is sent nothing
expect the dispatches of g3 to be "sessions_spawn accepted"
expect the dispatches of g4 to be "sessions_spawn accepted"
expect the dispatches of g7 to be "sessions_spawn accepted"
expect no reassignment, landing, doubt or quarantine
expect no question before 15m
