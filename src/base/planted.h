/* SPDX-License-Identifier: Apache-2.0 */
/* Would our proofs notice? Eight bugs that a build can plant on purpose (-DPLANTED=…), so that the
 * explorer and the simulator can show that they find them. Every ordinary build plants none. */
#pragma once

#define PLANTED_NONE 0
#define PLANTED_ACT_BEFORE_COMMIT 1
#define PLANTED_NO_VERSION_CHECK 2
#define PLANTED_NO_EPOCH_CHECK 3
#define PLANTED_STEP_AGAIN 4 /* after a commit whose outcome is unknown */
#define PLANTED_ACT_WITHOUT_CLAIM 5
#define PLANTED_START_BESIDE_LOST_RUN 6 /* P10: without waiting until the run is frozen */
#define PLANTED_BELIEVE_ANY_RUN 7       /* P10: reports of another run count */
#define PLANTED_THAW_ON_RETURN 8        /* P10: a host that returns goes on with runs it lost */

#ifndef PLANTED
#define PLANTED PLANTED_NONE
#endif

#define planted(bug) (PLANTED == PLANTED_##bug)
