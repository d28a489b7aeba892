/* SPDX-License-Identifier: Apache-2.0 */
/* Takes over the goals of other hosts after a move to a store with one host. The host takes them over as it would from
 * a silent host, and effects that the others had running become unconfirmed. */
#include "ops/portable/import.h"

#include "store/rows.h"

struct adopting {
    struct store *store;
    struct arena arena;
    struct store_request request;
    struct store_answer answer;
};

static bool ask(struct adopting *it, enum store_verb verb) {
    arena_reset(&it->arena);
    it->request.verb = verb;
    store_perform(it->store, &it->request, &it->answer, &it->arena);
    return it->answer.outcome == STORE_DONE;
}

/* P4. From a host that is already lost, goals only have to be adopted. */
static bool host_adopt(struct adopting *it, struct host_row host, uint64_t *goals) {
    it->request.victim = host;
    if (host.state == HOST_LIVE) {
        if (!ask(it, STORE_TAKE) || !it->answer.held)
            return false;
        it->request.victim.epoch++;
    }
    it->request.limit = LIMIT_ADOPT_PAGE;
    do {
        if (!ask(it, STORE_ADOPT))
            return false;
        *goals += it->answer.owned_count;
    } while (it->answer.more);
    return true;
}

bool import_adopt(struct store *store, uint32_t host, int64_t now, uint64_t *ret_goals, char *error,
                  size_t error_size) {
    struct adopting it = {.store = store,
                          .request = {.self = {.host = host, .instance = (uint64_t)now},
                                      .at = now,
                                      .build = STR("import"),
                                      .addr = STR(""),
                                      .speaks = SCHEMA_LEVEL}};
    *ret_goals = 0;
    bool good = ask(&it, STORE_JOIN);
    it.request.self.epoch = it.answer.epoch;
    for (bool more = good; good && more;) {
        it.request.limit = 1;
        good = ask(&it, STORE_POLL);
        more = good && it.answer.host_count > 0;
        if (more)
            good = host_adopt(&it, it.answer.hosts[0], ret_goals);
    }
    if (!good)
        snprintf(error, error_size, "Goals of other hosts could not be taken over: %.*s",
                 STR_ARG(it.answer.error));
    arena_free(&it.arena);
    return good;
}
