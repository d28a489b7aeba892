/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what happens to the daemon when its user logs out, and which command starts it again. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum service {
    SERVICE_NONE, /* no service manager knows this process as a part of a session or a unit of ours */
    SERVICE_SESSION, /* started from a login session: `overseer up` */
    SERVICE_TERMINAL, /* by hand, in a scope of the user's service manager: some terminal programs make those */
    SERVICE_USER,   /* the unit overseerd of the user's service manager */
    SERVICE_SYSTEM, /* a unit of the system */
};

/* `text` is that of /proc/PID/cgroup. */
enum service service_of_groups(const char *text);
enum service service_of_process(pid_t pid);
/* The command that restarts a daemon that was started this way. */
const char *service_restart_command(enum service service);

/* True: systemd runs on this machine. */
bool logout_is_known(void);
/* True: the service manager of this user goes on after logout. */
bool logout_lingers(void);
/* True: logind ends what a session started when the session ends; also if it cannot be asked. */
bool logout_ends_sessions(void);

/* True: the file of the program that this process runs was replaced or removed since, as by an upgrade. */
bool program_was_replaced(pid_t pid);
