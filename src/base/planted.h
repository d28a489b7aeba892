/* SPDX-License-Identifier: Apache-2.0 */
/* Twenty-nine bugs that a build can plant on purpose (-DPLANTED=…), to show that the explorer and the simulator find
 * them. Ordinary builds plant none. */
#pragma once

#define PLANTED_NONE 0
#define PLANTED_ACT_BEFORE_COMMIT 1
#define PLANTED_NO_VERSION_CHECK 2
#define PLANTED_NO_EPOCH_CHECK 3
#define PLANTED_STEP_AGAIN 4 /* after a commit whose outcome is unknown */
#define PLANTED_ACT_WITHOUT_CLAIM 5
#define PLANTED_START_BESIDE_LOST_RUN 6 /* P10: without waiting until the lost run is frozen */
#define PLANTED_BELIEVE_ANY_RUN 7       /* P10: reports of another run are accepted */
#define PLANTED_THAW_ON_RETURN 8        /* P10: a host that returns resumes runs that it lost */

#define PLANTED_SLOT_FOR_TWO 9         /* the lane grants its slot while other work holds it */
#define PLANTED_LAND_WITHOUT_SWAP 10   /* a push does not compare the target with its old tip */
#define PLANTED_VERDICT_FOR_ANY_TIP 11 /* a candidate lands on a tip on which it was not checked */
#define PLANTED_VERDICT_FOR_ANY_CHECK 12 /* a verdict still counts after the checks have changed */
#define PLANTED_YES_FOR_ANY_COMMIT 13    /* an approval of one commit lands another one */
#define PLANTED_LANDING_UNREAD \
    14 /* a host that took over a landing does not check whether it already happened */
#define PLANTED_LANE_NOT_HELD 15 /* the lane grants its slot although a person holds the lane */
#define PLANTED_SLOT_KEPT 16     /* work that is lost with its host keeps the slot */

#define PLANTED_BACK_UNNOTICED \
    17 /* P13: no new era begins when the store has gone back to an earlier state */
#define PLANTED_ACTED_FORGOTTEN 18 /* P13: the host does not look up what it has already acted on */
#define PLANTED_BEAT_BLIND 19 /* P13: a beat does not compare the store with what the host knows */
#define PLANTED_TAKE_BLIND \
    20 /* P13: a take-over does not compare either, not even after a failover */
#define PLANTED_NOTES_UNREAD \
    21 /* P14: an effect that a host had claimed counts as not begun, whatever the host has noted */

#define PLANTED_EFFECT_ANYWHERE 22   /* an effect does not name the repository of its goal */
#define PLANTED_LANE_FOR_ALL 23      /* the work of every repository waits in one lane */
#define PLANTED_NUMBER_TWICE 24      /* P15: two goals get the same number for their names */
#define PLANTED_NUMBERS_FORGOTTEN 25 /* P15: after a restore, numbers are given again */

#define PLANTED_MARK_FORGOTTEN 26  /* a permit is granted whatever is used of a window */
#define PLANTED_MARK_STRICT 27     /* a window exactly at the mark does not count */
#define PLANTED_OVERAGE_GOES_ON 28 /* permits are granted while paid usage waits for an answer */
#define PLANTED_RESET_UNNOTICED 29 /* a window's reset wakes nothing */

#ifndef PLANTED
#define PLANTED PLANTED_NONE
#endif

#define planted(bug) (PLANTED == PLANTED_##bug)
