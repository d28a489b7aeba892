/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the check of JSON artifacts that agents leave, with any bytes. Whatever jansson accepts, ours accepts as well,
 * with the same items and keys. */
#include "runs/artifact/artifact.h"
#include "base/must.h"

#include <jansson.h>

static void same(const json_t *json, const struct artifact_json *seen, const struct texts *keys) {
    must(!seen->wrong && seen->is_list == json_is_array(json));
    must(seen->items == (seen->is_list ? json_array_size(json) : 0));
    for (size_t i = 0; i < seen->items; i++) {
        const json_t *item = json_array_get(json, i);
        bool whole = json_is_object(item);
        for (uint32_t k = 0; k < keys->count; k++)
            whole = whole && json_object_getn(item, keys->at[k].at, keys->at[k].len);
        must(!seen->lacks || i >= seen->lacks_at || whole);
        must(whole || (seen->lacks && seen->lacks_at <= i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct str KEYS[] = {{"a", 1}, {"n\xc3\xa4", 3}};
    struct texts keys = {KEYS, 2};
    struct artifact_json seen = artifact_json((struct str){(const char *)data, size}, &keys);
    must(!seen.wrong || (seen.line > 0 && seen.column > 0));
    json_t *json = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool ends = size > 0 && memchr(data, 0, size); /* jansson treats NUL as the end */
    if (json && !ends && !(seen.wrong && strstr(seen.wrong, "too deep")))
        same(json, &seen, &keys);
    json_decref(json);
    return 0;
}
