/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs for agents and notices to people: these worlds have goals with commands only. */
#include "runs/executor.h"
#include "runs/notice_send.h"
#include "runs/run_table.h"

void agents_start(struct agents *agents, uv_loop_t *loop, struct executor *executor,
                  struct daemon_context *context) {
    (void)agents, (void)loop, (void)executor, (void)context;
}

void agents_stop(struct agents *agents) {
    (void)agents;
}

void agents_end(struct agents *agents) {
    (void)agents;
}

void agents_beat(struct agents *agents) {
    (void)agents;
}

void agents_carry(struct agents *agents, struct act *act) {
    (void)agents, (void)act;
    must(!"an agent is spoken to");
}

void runs_stop(struct run_table *runs) {
    (void)runs;
}

void runs_end(struct run_table *runs) {
    (void)runs;
}

struct notice_sender *notice_sender_start(struct executor *executor, uv_loop_t *loop,
                                          struct daemon_context *context) {
    (void)executor, (void)loop, (void)context;
    return NULL;
}

void notice_sender_stop(struct notice_sender *notice_sender) {
    (void)notice_sender;
}

void notice_sender_end(struct notice_sender *notice_sender) {
    (void)notice_sender;
}

void say_begin(struct executor *executor, struct act *act) {
    (void)executor, (void)act;
    must(!"a person is spoken to");
}
