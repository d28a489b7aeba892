/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the daemon reads in a hold's folder. recall FOLDER ID: alive or dead, the fence, and whether the id was
 * written. */
#include "drivers/hold_client.h"

#include <stdio.h>

static const char *const NAMES[HOLD_WRITTENS] = {"written", "already", "not", "maybe",
                                                 "queued",  "unknown", "full"};

int main(int argc, char **argv) {
    struct id id = {0};
    struct held_memory memory;
    if (argc != 3 || strlen(argv[2]) != 32)
        return 2;
    for (size_t i = 0; i < 16; i++)
        sscanf(argv[2] + 2 * i, "%2hhx", &id.bytes[i]);
    if (!held_recall(argv[1], id, &memory))
        return 1;
    printf("%s fence %llu %s\n", memory.alive ? "alive" : "dead", (unsigned long long)memory.fence,
           NAMES[memory.written]);
    return 0;
}
