/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to the tmux server of that socket as `overseer attach` does: attached BWRAP TMUX SOCKET. */
#include "cli/adopt/attach.h"

#include <stdio.h>

int main(int count, char **words) {
    int status = count == 4 ? attach_boxed(words[1], words[2], words[3]) : 2;
    printf("ended with %d\n", status);
    return status;
}
