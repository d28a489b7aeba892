/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that are refused because their part is not built yet. Earlier versions accepted them: a line that
 * changes nothing is worse than none. When a part gets built, its rows move to setting_rows.c. */
#include "model/setting/setting.h"

/* Of any type and unit; the text names the part that is missing. */
#define ABSENT(name, aliases, part) \
    { name, SETTING_SPAN, 0, "", 0, 0, NULL, 0, aliases, part, NULL }
#define LOOPS "loop detection"
#define POOL "taking tasks from a pool automatically"
#define SECOND "the second level (overseer watch)"
#define PLANNER "the planner"
#define CARDS "choosing agents by their capabilities"

const struct setting SETTING_ABSENT[] = {
    ABSENT("preset", "", LOOPS ", whose thresholds a preset sets,"),
    ABSENT("supervision.patrol_interval", "auto.patrol_interval defaults.patrol_interval", POOL),
    ABSENT("planner.max_plan_phases", "", PLANNER),
    ABSENT("planner.max_tasks_per_phase", "", PLANNER),
    ABSENT("planner.max_subtasks_per_task", "", PLANNER),
    ABSENT("planner.max_repair_attempts", "", PLANNER),
    ABSENT("auto.enabled", "", POOL),
    ABSENT("auto.task_pool_command", "", POOL),
    ABSENT("auto.concurrency", "", POOL),
    ABSENT("auto.post_accept_command", "", POOL),
    ABSENT("watch.remediation_prompt", "", SECOND),
    ABSENT("watch.heartbeat_timeout", "", SECOND),
    ABSENT("watch.stall_timeout", "", SECOND),
    ABSENT("watch.restart_cooldown", "", SECOND),
    ABSENT("stuck.same_error_count", "", LOOPS),
    ABSENT("stuck.no_progress_iterations", "", LOOPS),
    ABSENT("oscillation.undo_redo_cycles", "", LOOPS),
    ABSENT("oscillation.file_churn_threshold", "", LOOPS),
    ABSENT("deviation.objective_similarity", "", LOOPS),
    ABSENT("deviation.scope_creep_ratio", "", LOOPS),
    ABSENT("resource.cost_multiplier", "", LOOPS),
    ABSENT("resource.iteration_multiplier", "", LOOPS),
    ABSENT("regression.test_pass_to_fail", "", LOOPS),
    ABSENT("regression.coverage_drop_percent", "", LOOPS),
    ABSENT("regression.abort", "", LOOPS),
    ABSENT("landing.strip_attribution", "strip_attribution",
           "removing attribution lines from commit messages"),
};
const size_t SETTING_ABSENT_COUNT = count_of(SETTING_ABSENT);

const struct setting AGENT_ABSENT[] = {
    ABSENT("description", "", CARDS),
    ABSENT("capabilities", "capabilities.tags", CARDS),
    ABSENT("cost_tier", "capabilities.cost_tier", CARDS),
    ABSENT("typical_latency", "capabilities.typical_latency", CARDS),
    ABSENT("notes", "capabilities.notes", CARDS),
    ABSENT("max_children", "max_children_per_agent subagents.max_children_per_agent",
           "starting agents from agents"),
};
const size_t AGENT_ABSENT_COUNT = count_of(AGENT_ABSENT);
