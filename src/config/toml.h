/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a TOML document into a list of its values with their positions, from top to bottom. The C++ parser is hidden
 * behind this interface. */
#pragma once

#include "base/str.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_type {
    TOML_TABLE, /* a section begins */
    TOML_ENTRY, /* one more entry of a list of tables begins */
    TOML_TEXT,
    TOML_NUMBER,
    TOML_REAL,
    TOML_FLAG,
    TOML_TEXTS, /* a list of texts; also an empty one */
    TOML_OTHER, /* a date, or a list of something else */
};

struct toml_value {
    enum toml_type type;
    struct str path; /* keys joined by dots; entries of a list have the path of the list */
    uint32_t line, column;
    struct str text;
    int64_t number;
    double real;
    bool flag;
    const struct str *texts;
    uint32_t text_count;
};

struct toml_error {
    uint32_t line, column;
    char why[256];
};

struct toml_doc;

/* NULL: `error` says where and why; line 0: there is no memory. */
struct toml_doc *toml_read(struct str text, struct toml_error *ret_error);
uint32_t toml_count(const struct toml_doc *doc);
const struct toml_value *toml_at(const struct toml_doc *doc,
                                 uint32_t place); /* in the order of the document */
void toml_free(struct toml_doc *doc);

#ifdef __cplusplus
}
#endif
