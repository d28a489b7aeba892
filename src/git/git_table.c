/* SPDX-License-Identifier: Apache-2.0 */
#include "git/git_table.h"

#include "base/must.h"

#define FETCH \
    "fetch --quiet --no-tags --no-auto-gc --no-write-fetch-head --no-recurse-submodules --update-shallow "

const struct git_row GIT_ROWS[GIT_COMMANDS] = {
    [GIT_LIST_REMOTE] = {"ls-remote --quiet --symref $upload $1 $*", GIT_NOWHERE,
                         "which branch is the default one, and where branches are"},
    [GIT_INIT_CLONE] = {"init --quiet --bare --template= --initial-branch=overseer $1", GIT_NOWHERE,
                        "the published and the private repository"},
    [GIT_FETCH_SOURCE] = {FETCH "--prune $upload $1 $2", GIT_PUBLISHED, "the operator's branches"},
    [GIT_FETCH_TARGET] = {FETCH "$upload $1 $2", GIT_PUBLISHED, "the tip of the target branch"},
    [GIT_PUBLISH] = {FETCH "$upload $1 $2", GIT_PUBLISHED,
                     "a commit of ours that a run begins with"},
    [GIT_LIST_RUN] = {"ls-remote --quiet $boxed $1", GIT_NOWHERE,
                      "which refs an agent's repository has"},
    [GIT_FETCH_RUN] =
        {"-c fetch.fsckObjects=true -c fetch.fsck.gitmodulesUpdate=ignore -c fetch.fsck.gitmodulesUrl=ignore "
         "-c fetch.fsck.gitmodulesPath=ignore -c fetch.fsck.gitmodulesName=ignore " FETCH
         "--prune $boxed $1 $2 $3",
         GIT_OURS, "what an agent committed, checked object by object; submodules are ignored"},
    [GIT_FETCH_CHECKOUT] = {FETCH "$upload $1 $2", GIT_FRESH,
                            "what the published objects lack of a commit that is checked"},
    [GIT_INIT_TREE] = {"init --quiet --template= --initial-branch=$1 $2", GIT_NOWHERE,
                       "a run's worktree or a clean checkout"},
    [GIT_SET_FRESH] = {"update-ref $1 $2", GIT_FRESH, "the branch of a run, and its base"},
    [GIT_SET_FRESH_HEAD] = {"update-ref --no-deref HEAD $1", GIT_FRESH,
                            "a clean checkout is on no branch"},
    [GIT_FILL] = {"read-tree --reset -u $1", GIT_FRESH, "the files of one commit"},
    [GIT_LIST_INCLUDED] = {"-C $1 ls-files -z --others --ignored --exclude-from=$2", GIT_PERSONS,
                           "files that match .worktreeinclude"},
    [GIT_LIST_IGNORED] = {"-C $1 check-ignore -z --stdin", GIT_PERSONS,
                          "which of them are ignored"},
    [GIT_READ_TREE] = {"read-tree $1", GIT_MEASURE, "our index: what HEAD has"},
    [GIT_LIST_INDEX] = {"ls-files -z --stage", GIT_MEASURE, "the entries of our index"},
    [GIT_LIST_NOT_WORK] = {"check-ignore -z --stdin --no-index", GIT_MEASURE,
                           "which new files are ignored, by copies of .gitignore"},
    [GIT_ADD] = {"update-index --add --replace -z --stdin", GIT_MEASURE,
                 "copies of changed files into our index"},
    [GIT_ADD_KNOWN] = {"update-index -z --index-info", GIT_MEASURE,
                       "files that have not changed since they were taken in"},
    [GIT_DROP] = {"update-index --force-remove -z --stdin", GIT_MEASURE,
                  "files that are gone out of our index"},
    [GIT_WRITE_TREE] = {"write-tree", GIT_MEASURE, "our index as a tree"},
    [GIT_COMMIT] = {"commit-tree $1 -m $2 $*", GIT_OURS, "a snapshot, a squash, a replayed commit"},
    [GIT_RESOLVE] = {"rev-parse --verify --quiet --end-of-options $1", GIT_OURS,
                     "which object a name means"},
    [GIT_RESOLVE_PUBLISHED] = {"rev-parse --verify --quiet --end-of-options $1", GIT_PUBLISHED,
                               "the same, of what runs may see"},
    [GIT_SET_REF] = {"update-ref $1 $2", GIT_OURS, "a ref of ours"},
    [GIT_CHANGE_REFS] =
        {"update-ref --stdin", GIT_OURS,
         "refs of a run that was removed; refs that a version before kept elsewhere"},
    [GIT_CHANGE_PUBLISHED] = {"update-ref --stdin", GIT_PUBLISHED, "the same, where runs may see"},
    [GIT_LIST_NAMES] = {"for-each-ref --format=%(refname) --count=$1 $*", GIT_OURS,
                        "refs of a run"},
    [GIT_LIST_PUBLISHED] = {"for-each-ref --sort=-creatordate --format=%(objectname) --count=$1 $*",
                            GIT_PUBLISHED, "what the published objects have"},
    [GIT_LIST_OLD] = {"for-each-ref --format=create%20%(refname)%20%(objectname) $*", GIT_PUBLISHED,
                      "refs that a version before kept there"},
    [GIT_LIST_TIPS] = {"for-each-ref --format=%(objectname) --no-merged=$1 --count=$2 $*", GIT_OURS,
                       "commits of an agent that nothing else holds"},
    [GIT_COMPARE] = {"diff-tree -r -z --raw --numstat --no-abbrev --no-renames --no-ext-diff "
                     "--no-textconv --ignore-submodules=dirty $1 $2",
                     GIT_OURS, "files that changed since the base"},
    [GIT_COMPARE_RAW] = {"diff-tree -r -z --raw --no-abbrev --no-renames --no-ext-diff "
                         "--ignore-submodules=dirty $1 $2",
                         GIT_OURS, "how two trees differ"},
    [GIT_DIFF] = {"diff-tree -r --patch-with-stat --summary --no-color --no-renames --no-ext-diff "
                  "--no-textconv --ignore-submodules=dirty $1 $2",
                  GIT_OURS, "the same, for a person to read"},
    [GIT_WORKTREES] = {"-C $1 worktree list --porcelain -z", GIT_PERSONS,
                       "which branches are checked out"},
    [GIT_CHECK_NAME] = {"check-ref-format $1", GIT_NOWHERE, "whether a name may be a branch"},
    [GIT_CONTAINS] = {"merge-base --is-ancestor $1 $2", GIT_OURS,
                      "whether a commit is on a branch"},
    [GIT_BASE] = {"merge-base $1 $2", GIT_OURS, "the merge base of two histories"},
    [GIT_LIST_COMMITS] = {"rev-list --reverse --topo-order --parents --max-count=$1 $2 ^$3",
                          GIT_OURS, "commits to be replayed"},
    [GIT_SHOW_COMMIT] =
        {"log -1 --no-show-signature --format=%an%x00%ae%x00%ad%x00%B --date=raw $1", GIT_OURS,
         "author and message of a commit"},
    [GIT_SHOW_DATE] = {"log -1 --no-show-signature --format=%ct $1", GIT_OURS,
                       "when a snapshot was made: the date of its candidate"},
    [GIT_LIST_ADDED] = {"log --no-show-signature --reverse --max-count=$1 --format=%H%x20%s $2 ^$3",
                        GIT_OURS, "commits that a candidate adds"},
    [GIT_SHOW_ADDED] =
        {"log --no-show-signature --reverse --max-count=$1 --patch-with-stat --summary "
         "--no-color --no-renames --no-ext-diff --no-textconv "
         "--ignore-submodules=dirty --format=medium $2 ^$3",
         GIT_OURS, "the same, for a person to read"},
    [GIT_LOG] =
        {"log --no-show-signature --no-merges --reverse --max-count=$1 --format=%B $2 ^$3 ^$4",
         GIT_OURS, "messages of what is squashed"},
    [GIT_INDEX_READ] = {"read-tree $1", GIT_INDEX, "a tree into an index of ours; or none"},
    [GIT_INDEX_SET] = {"update-index -z --index-info", GIT_INDEX, "replaces entries"},
    [GIT_INDEX_WRITE] = {"write-tree", GIT_INDEX, "writes the resulting tree"},
    [GIT_MERGE] = {"merge-tree --write-tree -z --name-only --no-messages $1 $2", GIT_OURS,
                   "the content of files that two sides changed, in no worktree"},
    [GIT_PUSH_IF] = {"push --porcelain --no-progress --no-verify --no-signed "
                     "--recurse-submodules=no --force-with-lease=$1:$2 $lands $3 $4:$1",
                     GIT_OURS,
                     "moves a branch, if it is still at the commit that was seen ($2, or absent)"},
    [GIT_PUSH_SALVAGE] = {"push --porcelain --no-progress --no-verify --no-signed "
                          "--recurse-submodules=no $receive $1 $*",
                          GIT_OURS, "salvaged work to the remote"},
    [GIT_REACH_REMOTE] =
        {"ls-remote --quiet $1 HEAD", GIT_NOWHERE,
         "whether a server answers and lets us in, before anything is fetched or pushed"},
    [GIT_LIST_REFS] = {"for-each-ref --format=%(objectname)%20%(refname) $1", GIT_OURS,
                       "what was salvaged, and what of it was sent"},
    [GIT_LIST_TREE] = {"ls-tree -r -z --full-tree $1", GIT_OURS,
                       "which dependencies a commit names: they say which cache its check has"},
};

const struct git_setting GIT_SETTINGS[] = {
    {"core.hooksPath", "/dev/null", "no hook is run"},
    {"core.fsmonitor", "false", "no watcher is started"},
    {"core.attributesFile", "/dev/null", "no attributes of the machine"},
    {"core.excludesFile", "/dev/null", "no ignore rules of the machine"},
    {"core.alternateRefsCommand", "true", "lists nothing; the repository's own command is not run"},
    {"core.autocrlf", "false", "no conversion of line ends"},
    {"core.symlinks", "true", "a link stays a link"},
    {"core.protectNTFS", "true", "no name that means .git on another system"},
    {"core.protectHFS", "true", "the same"},
    {"core.pager", "cat", "nothing is started to show output"},
    {"core.fsync", "committed", "stored objects are synced to disk"},
    {"credential.helper", "", "clears helpers; the operator's own helper follows, if there is one"},
    {"submodule.recurse", "false", "no submodule is entered"},
    {"fetch.recurseSubmodules", "false", "the same"},
    {"diff.ignoreSubmodules", "all", "no status inside a submodule"},
    {"fetch.writeCommitGraph", "false", "nothing more than asked for"},
    {"gc.auto", "0", "nothing is ever thrown away behind a worktree that borrows it"},
    {"maintenance.auto", "false", "nothing stays behind in the background"},
    {"http.followRedirects", "initial", "a server cannot redirect later requests"},
    {"http.lowSpeedLimit", "1", "a server that sends nothing"},
    {"http.lowSpeedTime", "60", "for so many seconds is not waited for"},
    {"log.showSignature", "false", "no program is run to check one"},
    {"safe.directory", "*", "the operator named the repository; nothing of it is run"},
};
const unsigned GIT_SETTING_COUNT = count_of(GIT_SETTINGS);

/* A server answers within a minute, or counts as unreachable. */
int64_t git_command_within_us(enum git_command command) {
    return command == GIT_LIST_REMOTE || command == GIT_REACH_REMOTE ? SECONDS(60) : 0;
}

const char GIT_UPLOAD[] =
    "--upload-pack=git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c "
    "core.alternateRefsCommand=true -c safe.directory='*' upload-pack";
const char GIT_RECEIVE_HOOKED[] =
    "--receive-pack=git -c core.fsmonitor=false -c core.alternateRefsCommand=true -c "
    "safe.directory='*' -c receive.autogc=false -c receive.denyCurrentBranch=refuse receive-pack";
const char GIT_RECEIVE[] =
    "--receive-pack=git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c "
    "core.alternateRefsCommand=true -c safe.directory='*' -c receive.autogc=false -c "
    "receive.denyCurrentBranch=refuse receive-pack";

#define WORD(n) " ${OVERSEER_WORD" #n "+\"$OVERSEER_WORD" #n "\"}"
#define WORDS(t) \
    WORD(t##0) WORD(t##1) WORD(t##2) WORD(t##3) WORD(t##4) WORD(t##5) WORD(t##6) WORD(t##7)
const char GIT_BOXED[] = "--upload-pack=exec" WORDS(0) WORDS(1) WORDS(2) WORDS(3) WORDS(4) WORDS(5)
    WORDS(6) WORDS(7) " #";
const char GIT_BOXED_NAME[] = "OVERSEER_WORD"; /* two octal digits follow */

const char *const GIT_BOXED_PROGRAM[] = {"-c",          "core.hooksPath=/dev/null",
                                         "-c",          "core.fsmonitor=false",
                                         "-c",          "core.alternateRefsCommand=true",
                                         "-c",          "safe.directory=*",
                                         "upload-pack", "--strict"};
const unsigned GIT_BOXED_PROGRAM_COUNT = count_of(GIT_BOXED_PROGRAM);

const struct git_setting GIT_ENVIRONMENT[] = {
    {"PATH", "/usr/local/bin:/usr/bin:/bin", "programs of the system only"},
    {"HOME", "/dev/null", "no settings of a person"},
    {"XDG_CONFIG_HOME", "/dev/null", "the same"},
    {"LC_ALL", "C", "answers in one language"},
    {"GIT_CONFIG_NOSYSTEM", "1", "no settings of the machine"},
    {"GIT_CONFIG_GLOBAL", "/dev/null", "no settings of a person"},
    {"GIT_ATTR_NOSYSTEM", "1", "no attributes of the machine"},
    {"GIT_TERMINAL_PROMPT", "0", "no prompts"},
    {"GIT_ASKPASS", "false", "no prompts"},
    {"SSH_ASKPASS_REQUIRE", "never", "no prompts"},
    {"GIT_ALLOW_PROTOCOL", "file:https:ssh", "no other transport: ext:: runs commands"},
    {"GIT_SSH_COMMAND",
     "ssh -oBatchMode=yes -oControlMaster=no -oControlPath=none -oConnectTimeout=30 "
     "-oServerAliveInterval=15 -oServerAliveCountMax=4",
     "instead of one that a repository names; no background process, and a timeout for dead servers"},
    {"GIT_NO_REPLACE_OBJECTS", "1", "a commit is what its name says"},
    {"GIT_NO_LAZY_FETCH", "1", "a missing object is missing"},
    {"GIT_OPTIONAL_LOCKS", "0", "no index of others is refreshed"},
    {"GIT_EDITOR", "false", "nothing is edited"},
};
const unsigned GIT_ENVIRONMENT_COUNT = count_of(GIT_ENVIRONMENT);

const struct git_ref_row GIT_REF_ROWS[GIT_REFS] = {
    [GIT_REF_SOURCE] = {"refs/overseer/source/$1", "published", "the operator's branches"},
    [GIT_REF_RUN] = {"refs/overseer/runs/$1", "private",
                     "below it: HEAD and all refs of an agent's worktree, until it is removed"},
    [GIT_REF_SNAPSHOT] = {"refs/overseer/snapshots/$1", "private",
                          "the newest measurement of a run, until it is removed"},
    [GIT_REF_SALVAGE] = {"refs/overseer/salvage/$1", "private, remote",
                         "everything that a run left behind; never removed"},
    [GIT_REF_TARGET] = {"refs/overseer/targets/$1", "published",
                        "the branch that a run is landed on, as it was seen"},
    [GIT_REF_LANDING] = {"refs/overseer/landing/$1/$2", "private",
                         "the commit that is about to land; named by what lands and where"},
    [GIT_REF_CANDIDATE] =
        {"refs/overseer/candidates/$1/$2", "private",
         "the commit that is checked, shown and landed, until its run is removed"},
    [GIT_REF_KEPT] = {"refs/overseer/kept/$1/$2", "private",
                      "the snapshot of a candidate; a candidate with files of the target, only for "
                      "checking; as long"},
    [GIT_REF_CONFLICT] = {"refs/overseer/conflicts/$1/$2", "private",
                          "base, target and snapshot of a conflict, as its parents; as long"},
    [GIT_REF_BRANCH] = {"refs/heads/overseer/$1", "a run's worktree, operator's repository, remote",
                        "the branch of a run: T19-fix-login, the same with four characters of its "
                        "own where that name is taken, or GOAL/RUN for work of an earlier build"},
    [GIT_REF_SENT] = {"refs/overseer/sent/$1", "private",
                      "the salvage of a run as the remote has it"},
    [GIT_REF_FRESH_BASE] = {"refs/overseer/base", "a run's worktree", "the commit it began with"},
    [GIT_REF_HANDED] = {"refs/overseer/handed/$1", "published",
                        "a commit of ours that a run began with, until it is removed"},
};
