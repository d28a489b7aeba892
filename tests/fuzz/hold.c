/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the wire format of holds with any bytes. A frame, a status or a record that was read is the same when it is
 * written again. */
#include "base/must.h"
#include "hold/wire.h"

#include <stdlib.h>

static void frames_try(struct str bytes) {
    struct hold_frame frame;
    size_t size;
    while (frame_read(bytes, &frame, &size) == FRAME_WHOLE) {
        must(size <= bytes.len && size == frame_size(&frame));
        char *again = malloc(size);
        must(again && frame_write(&frame, again) == size && memcmp(again, bytes.at, size) == 0);
        free(again);
        struct hold_status status;
        char status_again[HOLD_STATUS_SIZE];
        if (frame.kind == HOLD_STATUS && status_read(frame.bytes, &status)) {
            status_write(&status, status_again);
            must(memcmp(status_again, frame.bytes.at, HOLD_STATUS_SIZE) == 0);
        }
        bytes = (struct str){bytes.at + size, bytes.len - size};
    }
}

static void records_try(struct str bytes) {
    struct hold_record record, again;
    char written[HOLD_RECORD];
    for (; bytes.len >= HOLD_RECORD; bytes = (struct str){bytes.at + 1, bytes.len - 1}) {
        if (!record_read(bytes.at, &record))
            continue;
        record_write(&record, written);
        must(record_read(written, &again) && again.kind == record.kind &&
             again.value == record.value);
        must(record_tells(&record, record.id, HOLD_UNKNOWN) < HOLD_WRITTENS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str bytes = {(const char *)data, size};
    frames_try(bytes);
    records_try(bytes);
    return 0;
}
