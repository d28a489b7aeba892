/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that acknowledged changes survive a power cut. Continuous load through the whole path on
 * SQLite, a power cut at a random disk operation (in a commit, a checkpoint, a recovery), and again. After
 * it every acknowledged change is there exactly once, nothing is partly there, nothing is done twice.
 *
 *     powercut [--cuts N] [--seed N]
 *
 * The control: on a disk that only pretends to sync, acknowledged changes are lost, and the test detects that. */
#include "fault/faults.h"
#include "fault/pretend.h"
#include "fault/world.h"
#include "lib/proof.h"

#include <getopt.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOAD_ASKS = 400, CUTS_OF_A_DISK = 12, AT_ONCE = 5, WAL_PAGES = 12, NEVER = 1 << 30 };

struct load {
    struct world world;
    struct ask asks[LOAD_ASKS];
    uint32_t count;
    uint64_t random;
    uint64_t acknowledged;
};

static uint64_t load_random(struct load *load, uint64_t below) {
    load->random = load->random * 6364136223846793005u + 1442695040888963407u;
    return (load->random >> 33) % below;
}

/* ---- load ---- */

static struct ask *ask_any(struct load *load, bool settled_create) {
    struct ask *ask = load->count ? &load->asks[load_random(load, load->count)] : NULL;
    if (!ask || (settled_create && (ask->kind != ASK_CREATE || !ask->acknowledged)))
        return NULL;
    return ask;
}

static void ask_new(struct load *load) {
    char key[32];
    if (load->count == LOAD_ASKS)
        return;
    snprintf(key, sizeof key, "k%u", load->count);
    struct ask *about = ask_any(load, true);
    struct ask *ask = &load->asks[load->count++];
    *ask = about && load_random(load, 2) ? ask_report(key, about->goal)
                                         : ask_create(key, load_random(load, 2));
    ask_send(ask);
}

/* A client sends a request again under the same key, whether or not it was answered. */
static void ask_again(struct load *load) {
    struct ask *ask = ask_any(load, false);
    if (ask && !ask->sent)
        ask_send(ask);
}

static void script(struct world *world) {
    struct load *load = world->with;
    uint32_t under_way = 0;
    for (uint32_t i = 0; i < load->count; i++) {
        struct ask *ask = &load->asks[i];
        bool waited = ask->sent != NULL, before = ask->acknowledged;
        under_way += !ask_settled(world, ask);
        load->acknowledged += waited && !before && ask->acknowledged;
    }
    for (; under_way < AT_ONCE; under_way++)
        if (load_random(load, 4))
            ask_new(load);
        else
            ask_again(load);
    if (world->violation[0] || load->count == LOAD_ASKS)
        world_stop(world);
}

/* ---- cuts ---- */

/* One life of the daemon, up to the cut. The disk operation at which the cut happens is counted from the very start. */
static void live_until_cut(struct load *load) {
    struct world *world = &load->world;
    char error[512];
    uint64_t within = load_random(load, 4) == 0 ? 12 : 600;
    pretend_dead = false;
    memdisk_fail(world->disk, MEMDISK_DIE, 1 + load_random(load, within));
    if (world_open(world, error, sizeof error)) {
        world_run(world);
        world_close(world);
    } else if (!pretend_dead)
        violated(world, "it does not start after a cut: %s", error);
    for (uint32_t i = 0; i < load->count; i++)
        ask_forget(&load->asks[i]);
    memdisk_fail(world->disk, MEMDISK_NONE, 0);
    sqlite_backend_power_cut(world->backend);
    pretend_dead = false;
}

/* False: damaged, or not even readable. */
static bool integrity_holds(struct world *world) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    memdisk_owner(world->disk, 2);
    bool ok = sqlite3_open_v2("/store.db", &db, SQLITE_OPEN_READWRITE, memdisk_vfs(world->disk)) ==
                  SQLITE_OK &&
              sqlite3_exec(db, "SELECT 1 FROM goal, aside", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW &&
              strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return ok;
}

static void verify(struct load *load) {
    struct world *world = &load->world;
    if (!integrity_holds(world))
        violated(world, "the database is not whole after the cut");
    else
        world_judge(world, load->asks, load->count);
}

/* ---- a disk and its cuts ---- */

struct sum {
    uint64_t cuts, acknowledged, acted, in_checkpoint, violations, lost;
};

static void disk_live(uint64_t seed, uint32_t cuts, bool lies, struct sum *sum) {
    static struct load load;
    load = (struct load){.random = seed};
    struct world *world = &load.world;
    world->backend = sqlite_backend(seed);
    world->disk = sqlite_backend_disk(world->backend);
    world->backend->host_died(world->backend, 0);
    world->act_within = SECONDS(60);
    world->policy = policy_of(world->act_within);
    world->checkpoint_every =
        lies ? NEVER : 3; /* a checkpoint on a disk that lies tears the database itself */
    world->wal_pages = lies ? NEVER : WAL_PAGES;
    world->script = script;
    world->with = &load;
    memdisk_lies(world->disk, lies);
    for (uint32_t i = 0; i < cuts && !world->violation[0]; i++) {
        live_until_cut(&load);
        sum->cuts++;
        /* otherwise the next daemon has to recover, and may be cut during that */
        if (load_random(&load, 2) || i + 1 == cuts)
            verify(&load);
    }
    sum->acknowledged += load.acknowledged;
    sum->acted += world->acted_count;
    sum->in_checkpoint += world->died_in_checkpoint;
    sum->lost += strstr(world->violation, "is lost") != NULL;
    if (world->violation[0]) {
        sum->violations++;
        printf("power cut on sqlite%s, seed %llu: %s\n", lies ? ", on a disk that lies" : "",
               (unsigned long long)seed, world->violation);
    }
    world->backend->free(world->backend);
}

int main(int argc, char **argv) {
    uint64_t cuts = 100, seed = 1;
    static const struct option LONG[] = {
        {"cuts", required_argument, NULL, 'c'}, {"seed", required_argument, NULL, 's'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;)
        if (option == 'c')
            cuts = strtoull(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    faults_install();
    struct sum sum = {0}, control = {0};
    for (; sum.cuts < cuts && sum.violations < 5; seed++)
        disk_live(seed, CUTS_OF_A_DISK, false, &sum);
    for (uint64_t i = 0; i < 10; i++)
        disk_live(seed + i, CUTS_OF_A_DISK, true, &control);
    printf(
        "power cuts on sqlite: %llu cuts (%llu in the checkpointer), %llu acknowledged changes, %llu"
        " acts, %llu violations\n",
        (unsigned long long)sum.cuts, (unsigned long long)sum.in_checkpoint,
        (unsigned long long)sum.acknowledged, (unsigned long long)sum.acted,
        (unsigned long long)sum.violations);
    printf(
        "control, on a disk that lies: noticed on %llu of 10 disks, %llu times as a lost change\n",
        (unsigned long long)control.violations, (unsigned long long)control.lost);
    worlds_end();
    bool passed = sum.violations == 0 && sum.acknowledged > sum.cuts && control.lost > 0;
    if (passed)
        proof_passed("fault", "power cuts [sqlite]", "STORE-02");
    return !passed;
}
