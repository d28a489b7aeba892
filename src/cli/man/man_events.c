/* SPDX-License-Identifier: Apache-2.0 */
/* Prints overseer-events(7): how to follow events, which types there are, and what each carries. */
#include "cli/help.h"
#include "model/record.h"

#include <string.h>

/* What the first word of an event type stands for. */
static const struct {
    const char *first, *text;
} KINDS[] = {
    {"goal", "A goal: changes by people, and its status."},
    {"plan", "The plan of a goal: each version, and reviews by people."},
    {"work", "One phase, task or subtask of a plan. `from` and `to` are its statuses."},
    {"effect", "An external action, such as a command: decided, claimed, and its outcome."},
    {"part", "An assignment, a dispatch, a handoff or a run was stored."},
    {"signal", "A request from another host that was refused."},
    {"overseer", "The store and the fleet as a whole. They belong to the reserved goal "
                 "goal_00000000000000000000000001."},
};

static void types_of(const char *first) {
    size_t length = strlen(first);
    const char *between = "";
    for (uint32_t type = RECORD_NONE + 1; type < RECORD_TYPES; type++) {
        const char *name = RECORDS[type].name;
        if (strncmp(name, first, length) != 0 || name[length] != '.')
            continue;
        printf("%s.B ", between);
        between = ".br\n";
        man_text(name);
        printf("%s\n", RECORDS[type].kept ? " (kept)" : "");
    }
}

static void members(void) {
    static const struct {
        const char *name, *text;
    } ALWAYS[] = {
        {"id", "its position, to continue after it"},
        {"goalId", "the goal"},
        {"type", "one of those above"},
        {"at", "when"},
        {"seq", "its number within the goal"},
    };
    for (size_t i = 0; i < count_of(ALWAYS); i++)
        printf(".TP\n.B %s\n%s.\n", ALWAYS[i].name, ALWAYS[i].text);
    for (size_t i = 0; i < EVIDENCE.count; i++) {
        const struct field *field = &EVIDENCE.fields[i];
        if (field->flags & FIELD_HIDDEN)
            continue;
        printf(".TP\n.B %s\n", strcmp(field->name, "source") == 0 ? "signalId" : field->name);
        man_text(field->text);
        printf(".\n");
    }
}

int man_events_print(void) {
    printf(
        ".\\\" SPDX-License-Identifier: Apache-2.0\n"
        ".\\\" Made by `overseer help --man events.7`; do not edit.\n"
        ".TH OVERSEER\\-EVENTS 7 \"\" \"Overseer\" \"Overseer\"\n"
        ".SH NAME\n"
        "overseer\\-events \\- records of decisions, and how to list and follow them\n"
        ".SH DESCRIPTION\n"
        "Each decision leaves a record that is never changed. Records of all goals, in the order in which they were committed, are the events. They can be listed (\\fBevents.list\\fR, \\fBoverseer events\\fR) and followed (\\fBoverseer events \\-\\-follow\\fR, \\fBGET /events\\fR).\n"
        ".SH FOLLOWING\n"
        "\\fBGET /events\\fR answers with server\\-sent events: \\fBid\\fR is the position of the event, \\fBevent\\fR its type, \\fBdata\\fR the event as one line of JSON. A client that lost its connection sends the last \\fBid\\fR as \\fBLast\\-Event\\-ID\\fR and continues after it: no event is lost or repeated. A comment every 15 seconds keeps the stream alive; its \\fBid\\fR counts, too. Parameters:\n"
        ".TP\n"
        ".B after\n"
        "A position, or \\fBnow\\fR. Without it a stream begins now, and a list with the oldest event that is kept.\n"
        ".TP\n"
        ".B since\n"
        "A time, or how long ago: 90s, 15m, 2h, 3d.\n"
        ".TP\n"
        ".B goal\n"
        "Only events of this goal.\n"
        ".TP\n"
        ".B type\n"
        "Only events of these types, separated by commas; \\fBplan.*\\fR matches all with that prefix.\n"
        ".PP\n"
        "A position is \\fIera.transaction.number\\fR. After a restore an old position belongs to another era, and after retention it may be older than what is kept: then an event \\fBgone\\fR is sent, with the position where the stream continues as \\fBnext\\fR.\n"
        ".SH TYPES\n"
        "Types that are marked as kept stay when retention removes old records.\n");
    for (size_t i = 0; i < count_of(KINDS); i++) {
        printf(".SS ");
        man_text(KINDS[i].first);
        printf("\n");
        man_text(KINDS[i].text);
        printf("\n.PP\n");
        types_of(KINDS[i].first);
    }
    printf(".SH MEMBERS\nThe first five are always present; the others if they have a value.\n");
    members();
    printf(".SH EXAMPLES\n.nf\noverseer events \\-\\-since 2h \\-\\-type 'plan.*'\n.fi\n"
           ".PP\n.nf\noverseer events \\-\\-follow \\-\\-json\n.fi\n"
           ".SH SEE ALSO\n.BR overseer (1),\n.BR overseer\\-api (7)\n");
    return 0;
}
