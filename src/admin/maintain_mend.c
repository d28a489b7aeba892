/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs with which an operator leaves safe mode. */
#include "admin/maintain.h"
#include "engine/store_open.h"
#include "store/dump.h"
#include "store/examine.h"
#include "store/sqlite/sqlite_mend.h"
#include "sys/clock.h"

#include <stdio.h>

static const int EXIT_OF[EXAMINE_VERDICTS] = {[EXAMINE_SOUND] = MAINTAIN_DONE,
                                              [EXAMINE_DAMAGED] = MAINTAIN_DAMAGE,
                                              [EXAMINE_NOT_A_STORE] = MAINTAIN_FOREIGN,
                                              [EXAMINE_NEWER] = MAINTAIN_FOREIGN,
                                              [EXAMINE_AWAY] = MAINTAIN_FAILED};

static void examination_print(const struct examination *found) {
    for (uint32_t i = 0; i < found->found && i < LIMIT_FINDINGS; i++)
        printf("  %s %s: %s\n", found->findings[i].table, found->findings[i].key,
               found->findings[i].what);
    if (found->found > LIMIT_FINDINGS)
        printf("  and %llu more\n", (unsigned long long)(found->found - LIMIT_FINDINGS));
}

int maintain_examine(struct maintain *maintain) {
    static struct examination found;
    struct examine_options options = {.host = 1};
    if (maintain->lock) {
        options.was_open = maintain->lock->was_open;
        options.same_boot = maintain->lock->same_boot;
    }
    store_examine(str_of(maintain->store), &options, &found);
    if (found.missing)
        printf("examine: there is no store yet at %s\n", maintain->store);
    else if (found.older)
        printf("examine: no damage found; the tables are of an older build, and the next start "
               "migrates them\n");
    else if (found.verdict == EXAMINE_SOUND)
        printf(
            "examine: no damage: %llu goals with %llu records and %llu open effects were checked%s\n",
            (unsigned long long)found.goals, (unsigned long long)found.records,
            (unsigned long long)found.effects, found.deep ? "" : " (only those with open effects)");
    else
        printf("examine: %s: %s\n", EXAMINE_NAMES[found.verdict], found.why);
    examination_print(&found);
    return EXIT_OF[found.verdict];
}

/* First step of rebuild and accept-empty: a damaged store is set aside first, as the daemon would do it. 0: the store
 * is in safe mode, and `ret_place` is the path of the damaged one. */
static int safe_mode_reach(struct maintain *maintain, char ret_place[MEND_PATH]) {
    static struct safe safe;
    char error[1024];
    bool marked = false;
    struct opening opening = {maintain->store, 1, maintain->lock, &safe};
    if (maintain->lock)
        maintain->lock->unchanged = false; /* the whole store is examined */
    struct mend mend = {.path = maintain->path};
    if (!maintain->path) {
        printf("This is for SQLite stores. Restore a PostgreSQL database with its own tools.\n");
        return MAINTAIN_FAILED;
    }
    if (!opening_examine(&opening, error, sizeof error)) {
        printf("%s\n", error);
        return MAINTAIN_FAILED;
    }
    bool read = mend_read_mark(&mend, &marked, ret_place);
    bool filling = marked && strcmp(ret_place, LOAD_MARK) == 0;
    if (marked && !filling)
        return 0;
    if (safe_is_on(&safe) || !read) {
        printf("%s\n", safe_is_on(&safe) ? safe.why : mend.error);
        return safe_is_on(&safe) ? MAINTAIN_FOREIGN : MAINTAIN_FAILED;
    }
    printf("The store %s is not in safe mode; nothing was changed.\n", maintain->path);
    return MAINTAIN_FAILED;
}

static void rebuild_print(const struct rebuild_report *report, const char *place) {
    printf(
        "rebuild: from %s\n"
        "rebuild: %llu goals, %llu records; %llu open effects, all of them unconfirmed: check each before you repeat it\n",
        place, (unsigned long long)report->goals, (unsigned long long)report->records,
        (unsigned long long)report->effects);
    if (report->lost > 0)
        printf("rebuild: %llu goals are lost; %s lists them\n", (unsigned long long)report->lost,
               report->lost_path);
    else
        printf("rebuild: no goal is lost that a readable row names\n");
}

int maintain_rebuild(struct maintain *maintain) {
    static struct rebuild_report report;
    char place[MEND_PATH];
    int code = safe_mode_reach(maintain, place);
    if (code)
        return code;
    struct mend mend = {.path = maintain->path, .at = clock_wall()};
    if (!place[0] || !mend_rebuild(&mend, place, &report)) {
        printf(
            "rebuild: %s The store is unchanged and in safe mode; `accept-empty` starts over without its contents.\n",
            place[0] ? mend.error : "There is nothing to rebuild from.");
        return MAINTAIN_FAILED;
    }
    instance_lock_closed(maintain->lock);
    rebuild_print(&report, place);
    return report.lost > 0 || report.unreadable > 0 ? MAINTAIN_DAMAGE : MAINTAIN_DONE;
}

int maintain_accept_empty(struct maintain *maintain) {
    char place[MEND_PATH];
    int code = safe_mode_reach(maintain, place);
    if (code)
        return code;
    struct mend mend = {.path = maintain->path, .at = clock_wall()};
    if (!mend_accept_empty(&mend)) {
        printf("%s\n", mend.error);
        return MAINTAIN_FAILED;
    }
    instance_lock_closed(maintain->lock);
    printf(
        "accept-empty: the store is empty and no longer in safe mode; the damaged store stays at %s\n",
        place);
    return MAINTAIN_DONE;
}
