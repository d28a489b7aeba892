/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks to agents and people here? Nobody: these worlds have goals with commands only. */
#include "daemon/hands.h"
#include "daemon/runs.h"
#include "daemon/say.h"

void agents_start(struct agents *agents, uv_loop_t *loop, struct hands *hands,
                  struct house *house) {
    (void)agents, (void)loop, (void)hands, (void)house;
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

void runs_stop(struct runs *runs) {
    (void)runs;
}

void runs_end(struct runs *runs) {
    (void)runs;
}

struct sayer *sayer_start(struct hands *hands, uv_loop_t *loop, struct house *house) {
    (void)hands, (void)loop, (void)house;
    return NULL;
}

void sayer_stop(struct sayer *sayer) {
    (void)sayer;
}

void sayer_end(struct sayer *sayer) {
    (void)sayer;
}

void say_begin(struct hands *hands, struct act *act) {
    (void)hands, (void)act;
    must(!"a person is spoken to");
}
