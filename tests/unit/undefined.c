/* SPDX-License-Identifier: Apache-2.0 */
/* Undefined behaviour on purpose: under the sanitizer this program must not end with 0. */
#include <limits.h>

int main(int argc, char **argv) {
    (void)argv;
    int most = INT_MAX;
    most += argc;
    return most == 0;
}
