/* SPDX-License-Identifier: Apache-2.0 */
/* Which commands, settings and refs of git do we use? (docs/safety.md) */
#include "ports/git_table.h"

#include "base/must.h"

#define FETCH \
    "fetch --quiet --no-tags --no-auto-gc --no-write-fetch-head --no-recurse-submodules --update-shallow "

const struct git_row GIT_ROWS[GIT_COMMANDS] = {
    [GIT_LIST_REMOTE] = {"ls-remote --quiet --symref $upload $1 $*", GIT_NOWHERE,
                         "which branch is the default one, and where branches are"},
    [GIT_INIT_CLONE] = {"init --quiet --bare --template= --initial-branch=overseer $1", GIT_NOWHERE,
                        "our clone"},
    [GIT_FETCH_SOURCE] = {FETCH "--prune $upload $1 $2", GIT_OURS,
                          "the operator's branches into our clone"},
    [GIT_FETCH_TARGET] = {FETCH "$upload $1 $2", GIT_OURS, "where the branch is that is landed on"},
    [GIT_FETCH_RUN] =
        {"-c fetch.fsckObjects=true -c fetch.fsck.gitmodulesUpdate=ignore -c fetch.fsck.gitmodulesUrl=ignore "
         "-c fetch.fsck.gitmodulesPath=ignore -c fetch.fsck.gitmodulesName=ignore " FETCH
         "--prune $upload $1 $2 $3",
         GIT_OURS,
         "what an agent committed, checked object by object; submodules are nothing to us"},
    [GIT_INIT_TREE] = {"init --quiet --template= --initial-branch=$1 $2", GIT_NOWHERE,
                       "a run's worktree or a clean checkout"},
    [GIT_SET_FRESH] = {"update-ref $1 $2", GIT_FRESH, "the branch of a run, and its base"},
    [GIT_SET_FRESH_HEAD] = {"update-ref --no-deref HEAD $1", GIT_FRESH,
                            "a clean checkout is on no branch"},
    [GIT_FILL] = {"read-tree --reset -u $1", GIT_FRESH, "the files of one commit"},
    [GIT_LIST_INCLUDED] = {"-C $1 ls-files -z --others --ignored --exclude-from=$2", GIT_PERSONS,
                           "files that .worktreeinclude means"},
    [GIT_LIST_IGNORED] = {"-C $1 check-ignore -z --stdin", GIT_PERSONS,
                          "of them, those that are ignored"},
    [GIT_READ_TREE] = {"read-tree -m -i $1", GIT_MEASURE, "our index of a run's worktree"},
    [GIT_LIST_CHANGED] = {"ls-files -z --modified --deleted --others --exclude-standard",
                          GIT_MEASURE, "what differs from it"},
    [GIT_ADD] = {"update-index --add --remove --replace -z --stdin", GIT_MEASURE,
                 "changed files into our index"},
    [GIT_DROP] = {"update-index --force-remove -z --stdin", GIT_MEASURE,
                  "files that are gone out of our index"},
    [GIT_WRITE_TREE] = {"write-tree", GIT_MEASURE, "our index as a tree"},
    [GIT_COMMIT] = {"commit-tree $1 -m $2 $*", GIT_OURS, "a snapshot, a squash, a replayed commit"},
    [GIT_RESOLVE] = {"rev-parse --verify --quiet --end-of-options $1", GIT_OURS,
                     "which object a name means"},
    [GIT_SET_REF] = {"update-ref $1 $2", GIT_OURS, "a ref of ours in our clone"},
    [GIT_DELETE_REFS] = {"update-ref --stdin", GIT_OURS, "refs of a run that was removed"},
    [GIT_LIST_NAMES] = {"for-each-ref --format=%(refname) --count=$1 $*", GIT_OURS,
                        "refs of a run"},
    [GIT_LIST_TIPS] = {"for-each-ref --format=%(objectname) --no-merged=$1 --count=$2 $*", GIT_OURS,
                       "commits of an agent that nothing else holds"},
    [GIT_COMPARE] = {"diff-tree -r -z --raw --numstat --no-abbrev --no-renames --no-ext-diff "
                     "--no-textconv --ignore-submodules=dirty $1 $2",
                     GIT_OURS, "files that changed since the base"},
    [GIT_DIFF] = {"diff-tree -r --patch-with-stat --summary --no-color --no-renames --no-ext-diff "
                  "--no-textconv --ignore-submodules=dirty $1 $2",
                  GIT_OURS, "the same, for a person to read"},
    [GIT_WORKTREES] = {"-C $1 worktree list --porcelain -z", GIT_PERSONS,
                       "which branches are checked out"},
    [GIT_CHECK_NAME] = {"check-ref-format $1", GIT_NOWHERE, "whether a name may be a branch"},
    [GIT_CONTAINS] = {"merge-base --is-ancestor $1 $2", GIT_OURS,
                      "whether a commit is on a branch"},
    [GIT_BASE] = {"merge-base $1 $2", GIT_OURS, "where two histories meet"},
    [GIT_LIST_COMMITS] = {"rev-list --reverse --topo-order --parents --max-count=$1 $2 ^$3",
                          GIT_OURS, "commits to be replayed"},
    [GIT_SHOW_COMMIT] =
        {"log -1 --no-show-signature --format=%an%x00%ae%x00%ad%x00%B --date=raw $1", GIT_OURS,
         "who wrote a commit, and what about"},
    [GIT_LOG] = {"log --no-show-signature --no-merges --reverse --max-count=$1 --format=%B $2 ^$3",
                 GIT_OURS, "messages of what is squashed"},
    [GIT_MERGE] = {"merge-tree --write-tree -z --name-only --no-messages $1 $2", GIT_OURS,
                   "three trees into one, in no worktree"},
    [GIT_PUSH_IF] = {"push --porcelain --no-progress --no-verify --no-signed "
                     "--recurse-submodules=no --force-with-lease=$1:$2 $receive $3 $4:$1",
                     GIT_OURS, "a branch moves, if it is where it was seen ($2, or nowhere)"},
    [GIT_PUSH_SALVAGE] = {"push --porcelain --no-progress --no-verify --no-signed "
                          "--recurse-submodules=no $receive $1 +$2:$2",
                          GIT_OURS, "salvaged work to the remote"},
};

const struct git_setting GIT_SETTINGS[] = {
    {"core.hooksPath", "/dev/null", "no hook is run"},
    {"core.fsmonitor", "false", "no watcher is started"},
    {"core.attributesFile", "/dev/null", "no attributes of the machine"},
    {"core.excludesFile", "/dev/null", "no ignore rules of the machine"},
    {"core.alternateRefsCommand", "true", "lists nothing; one of the repository's is not run"},
    {"core.autocrlf", "false", "files are what they are"},
    {"core.symlinks", "true", "a link stays a link"},
    {"core.protectNTFS", "true", "no name that is .git on another system"},
    {"core.protectHFS", "true", "the same"},
    {"core.pager", "cat", "nothing is started to show output"},
    {"core.fsync", "committed", "what we say is kept is on the disk"},
    {"credential.helper", "", "forgets helpers; the operator's own follows, if there is one"},
    {"submodule.recurse", "false", "no submodule is entered"},
    {"fetch.recurseSubmodules", "false", "the same"},
    {"diff.ignoreSubmodules", "all", "no status is asked for inside of one"},
    {"fetch.writeCommitGraph", "false", "nothing more than asked for"},
    {"gc.auto", "0", "nothing is ever thrown away behind a worktree that borrows it"},
    {"maintenance.auto", "false", "nothing stays behind in the background"},
    {"http.followRedirects", "initial", "a server cannot send us elsewhere later"},
    {"log.showSignature", "false", "no program is run to check one"},
    {"safe.directory", "*", "the operator named the repository; nothing of it is run"},
};
const unsigned GIT_SETTING_COUNT = count_of(GIT_SETTINGS);

const char GIT_UPLOAD[] =
    "--upload-pack=git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c "
    "core.alternateRefsCommand=true -c safe.directory='*' upload-pack";
const char GIT_RECEIVE[] =
    "--receive-pack=git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c "
    "core.alternateRefsCommand=true -c safe.directory='*' -c receive.autogc=false -c "
    "receive.denyCurrentBranch=refuse receive-pack";

const struct git_setting GIT_ENVIRONMENT[] = {
    {"PATH", "/usr/local/bin:/usr/bin:/bin", "programs of the system only"},
    {"HOME", "/dev/null", "no settings of a person"},
    {"XDG_CONFIG_HOME", "/dev/null", "the same"},
    {"LC_ALL", "C", "answers in one language"},
    {"GIT_CONFIG_NOSYSTEM", "1", "no settings of the machine"},
    {"GIT_CONFIG_GLOBAL", "/dev/null", "no settings of a person"},
    {"GIT_ATTR_NOSYSTEM", "1", "no attributes of the machine"},
    {"GIT_TERMINAL_PROMPT", "0", "nobody is asked"},
    {"GIT_ASKPASS", "false", "nobody is asked"},
    {"SSH_ASKPASS_REQUIRE", "never", "nobody is asked"},
    {"GIT_ALLOW_PROTOCOL", "file:https:ssh", "no other transport: ext:: runs commands"},
    {"GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oControlMaster=no -oControlPath=none",
     "instead of one that a repository names; nothing stays behind"},
    {"GIT_NO_REPLACE_OBJECTS", "1", "a commit is what its name says"},
    {"GIT_NO_LAZY_FETCH", "1", "a missing object is missing"},
    {"GIT_OPTIONAL_LOCKS", "0", "no index of others is refreshed"},
    {"GIT_EDITOR", "false", "nothing is edited"},
};
const unsigned GIT_ENVIRONMENT_COUNT = count_of(GIT_ENVIRONMENT);

const struct git_ref_row GIT_REF_ROWS[GIT_REFS] = {
    [GIT_REF_SOURCE] = {"refs/overseer/source/$1", "our clone", "the operator's branches"},
    [GIT_REF_RUN] = {"refs/overseer/runs/$1", "our clone",
                     "below it: HEAD and all refs of an agent's worktree, until it is removed"},
    [GIT_REF_SNAPSHOT] = {"refs/overseer/snapshots/$1", "our clone",
                          "the newest measurement of a run, until it is removed"},
    [GIT_REF_SALVAGE] = {"refs/overseer/salvage/$1", "our clone, remote",
                         "everything that a run left behind; nobody removes it"},
    [GIT_REF_TARGET] = {"refs/overseer/targets/$1", "our clone",
                        "the branch that a run is landed on, as it was seen"},
    [GIT_REF_LANDING] = {"refs/overseer/landing/$1/$2", "our clone",
                         "the commit that is about to land; named by what lands and where"},
    [GIT_REF_BRANCH] = {"refs/heads/overseer/$1/$2",
                        "a run's worktree, operator's repository, remote",
                        "the branch of a run: goal and run"},
    [GIT_REF_FRESH_BASE] = {"refs/overseer/base", "a run's worktree", "the commit it began with"},
};
