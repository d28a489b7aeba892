/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a target passes its own check. */
#pragma once

#include "model/setting/setting.h"

/* Runs verify.setup and verify.command of the repository in this folder, on its target's commit. Returns the exit status. */
int try_checks(struct settings *settings, const char *socket, const char *folder,
               const char *repository);
