/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations, made from the list in ops/all.h. */
#include "ops/op.h"

#include "ops/all.h"

#define ROW(name) &OP_##name,
const struct op *const OPS[] = {OP_LIST(ROW)};
const size_t OP_COUNT = count_of(OPS);

const struct op *op_find(struct str name) {
    static const struct str OURS = STR("overseer.");
    if (name.len > OURS.len && memcmp(name.at, OURS.at, OURS.len) == 0)
        name = (struct str){name.at + OURS.len, name.len - OURS.len};
    for (size_t i = 0; i < OP_COUNT; i++)
        if (str_equal(str_of(OPS[i]->name), name) ||
            (OPS[i]->also && str_equal(str_of(OPS[i]->also), name)) ||
            (OPS[i]->alias && str_equal(str_of(OPS[i]->alias), name)))
            return OPS[i];
    return NULL;
}
