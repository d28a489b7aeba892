/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes an import with any document. Covers everything but the store itself: reading, checking, and the rules that
 * turn a user's list into goals. */
#include "ops/portable/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct import_report report;
    char error[1024] = "";
    if (size == 0)
        return 0;
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!file)
        return 0;
    struct import_options options = {
        .file = file, .tasks = data[0] == '-', .host = 1, .now = 1800000000000000};
    if (!import_run(&options, &report, error, sizeof error) && error[0] == 0)
        abort();
    fclose(file);
    return 0;
}
