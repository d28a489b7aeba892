/* SPDX-License-Identifier: Apache-2.0 */
#include "store/milestone.h"

static uint32_t type_known(uint64_t type) {
    return type < RECORD_TYPES ? (uint32_t)type : RECORD_NONE;
}

uint64_t milestone_count(const struct milestone *milestone) {
    return milestone->to - milestone->from + 1;
}

struct str milestone_encode(const struct milestone *milestone, struct arena *arena) {
    struct writer writer = {.arena = arena};
    write_byte(&writer, 1);
    for (uint32_t type = 0; type < RECORD_TYPES; type++)
        if (milestone->counts[type] > 0) {
            write_varint(&writer, type);
            write_varint(&writer, milestone->counts[type]);
        }
    return (struct str){writer.at, writer.len};
}

void milestone_decode(struct milestone *milestone, struct str body) {
    struct reader reader = {.rest = body};
    memset(milestone->counts, 0, sizeof milestone->counts);
    if (body.len == 0 || read_byte(&reader) != 1)
        return;
    while (reader.rest.len > 0 && !reader.failed) {
        uint32_t type = type_known(read_varint(&reader));
        milestone->counts[type] += read_varint(&reader);
    }
}

bool milestone_add(struct milestone *milestone, struct id goal, const struct record *record) {
    bool first = milestone->to == 0;
    if (!first && (!id_equal(milestone->goal, goal) || record->seq != milestone->to + 1))
        return false;
    if (first) {
        milestone->goal = goal;
        milestone->from = record->seq;
    }
    milestone->to = record->seq;
    milestone->at = record->at;
    milestone->last = record->hash;
    milestone->counts[type_known(record->type)]++;
    return true;
}

bool milestone_join(struct milestone *milestone, const struct milestone *next) {
    if (!id_equal(milestone->goal, next->goal) || next->from != milestone->to + 1)
        return false;
    milestone->to = next->to;
    milestone->at = next->at;
    milestone->last = next->last;
    for (uint32_t type = 0; type < RECORD_TYPES; type++)
        milestone->counts[type] += next->counts[type];
    return true;
}
