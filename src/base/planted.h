/* SPDX-License-Identifier: Apache-2.0 */
/* Would our proofs notice? Twenty-one bugs that a build can plant on purpose (-DPLANTED=…), so that the
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

#define PLANTED_SLOT_FOR_TWO 9         /* the lane grants its slot while another has it */
#define PLANTED_LAND_WITHOUT_SWAP 10   /* a push does not compare the target with its old tip */
#define PLANTED_VERDICT_FOR_ANY_TIP 11 /* a candidate lands on a tip on which it was not checked */
#define PLANTED_VERDICT_FOR_ANY_CHECK \
    12                                /* a verdict counts after the way of checking has changed */
#define PLANTED_YES_FOR_ANY_COMMIT 13 /* a yes to one commit lands another one */
#define PLANTED_LANDING_UNREAD 14     /* a landing that was taken over is not looked for */
#define PLANTED_LANE_NOT_HELD 15      /* a lane that a person holds goes on */
#define PLANTED_SLOT_KEPT 16          /* work that is lost with its host keeps the slot */

#define PLANTED_BACK_UNNOTICED 17  /* P13: a store that has gone back begins no new era */
#define PLANTED_ACTED_FORGOTTEN 18 /* P13: what a host has acted on is not looked up */
#define PLANTED_BEAT_BLIND 19      /* P13: a beat does not compare what the host knows */
#define PLANTED_TAKE_BLIND 20 /* P13: neither does a take-over, and no failover makes it careful */
#define PLANTED_NOTES_UNREAD \
    21 /* P14: what a host had claimed counts as not begun, whatever it has noted */

#ifndef PLANTED
#define PLANTED PLANTED_NONE
#endif

#define planted(bug) (PLANTED == PLANTED_##bug)
