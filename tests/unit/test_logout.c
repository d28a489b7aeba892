/* SPDX-License-Identifier: Apache-2.0 */
/* Does overseer doctor know from its control group who started a daemon? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/logout.h"

static const struct {
    const char *text;
    enum service service;
} CASES[] = {
    {"0::/user.slice/user-1000.slice/session-3.scope\n", SERVICE_SESSION},
    {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/overseerd.service\n",
     SERVICE_USER},
    {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/overseerd.service/daemon\n",
     SERVICE_USER},
    /* A terminal program may put its shells into scopes of the user's manager. */
    {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n",
     SERVICE_TERMINAL},
    {"0::/system.slice/system-overseerd.slice/overseerd@ana.service\n", SERVICE_SYSTEM},
    {"0::/system.slice/system-overseerd.slice/overseerd@ana.service/daemon\n", SERVICE_SYSTEM},
    {"0::/\n", SERVICE_NONE},
    {"", SERVICE_NONE},
    {"0::/docker/3f9c\n", SERVICE_NONE},
    /* Both hierarchies: systemd's is the one with its name. */
    {"8:pids:/user.slice/user-1000.slice/user@1000.service\n"
     "1:name=systemd:/user.slice/user-1000.slice/session-c1.scope\n0::/\n",
     SERVICE_SESSION},
    {"8:pids:/system.slice/ssh.service\n1:name=systemd:/\n0::/\n", SERVICE_NONE},
};

static void services_are_known(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_int_equal(service_of_groups(CASES[i].text), CASES[i].service);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(services_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
