story "A missing credential is kept as its kind and where it belongs, never as its value" proves STORE-15
fleet 1 hosts, lease 4s
goal g1
g1 is planned as "P1(T1 T2)"
T1 of g1 is blocked by credential
expect the answer about g1 is E_INVALID
T1 of g1 is blocked by credential because "needs OPENAI_API_KEY, set it in agents.toml"
expect T1 of g1 is blocked by credential because "needs OPENAI_API_KEY, set it in agents.toml"
T2 of g1 is blocked by credential because "OPENAI_API_KEY=sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f is refused"
expect T2 of g1 is blocked by credential because "OPENAI_API_KEY=[redacted:secret] is refused"
crash host 1
start host 1
expect T1 of g1 is blocked by credential because "needs OPENAI_API_KEY, set it in agents.toml"
expect P1 of g1 is blocked
T1 of g1 is unblocked
expect T1 of g1 is blocked by nothing because none
expect P1 of g1 is queued
