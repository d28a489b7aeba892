/* SPDX-License-Identifier: Apache-2.0 */
/* How much of anything may there be? Every bound of Overseer stands here, with its reason. */
#pragma once

enum {
    /* texts, in bytes */
    LIMIT_TITLE = 512,    /* one line that a person reads in a list */
    LIMIT_COMMAND = 2048, /* longer ones belong in a script */
    LIMIT_REPORT = 1024,  /* longer texts live apart, by hash */
    LIMIT_OUTPUT = 1024,  /* the tail of a command's output that is kept as evidence */
    LIMIT_OUTPUT_SEEN =
        16384,         /* of which this much is searched for secrets: longer than any of them */
    LIMIT_ACTOR = 128, /* who did it */
    LIMIT_KEY = 128,   /* what a caller may choose to make a write idempotent */
    LIMIT_RECORD_BODY = 2048, /* evidence of one decision */
    LIMIT_RECORD_INPUT = 512, /* of it, the signal itself; longer ones are kept apart */
    LIMIT_PLAN = 262144,      /* one encoded plan: a thousand nodes with a few lines each */
    LIMIT_BODY =
        4 * LIMIT_PLAN, /* what a door took, and the marks of secrets that were taken out of it */
    LIMIT_SIGNAL_BODY = LIMIT_BODY + 8192, /* one encoded signal, in the inbox or set aside */
    LIMIT_HOST_TEXT = 128,                 /* build and address of a host */
    LIMIT_WHY = 512,                       /* a reason in an error or a quarantine row */
    LIMIT_NODE_ID = 31,                    /* S1.1.1, or what a planner calls it */
    LIMIT_REASON = 512,                    /* why somebody moved, overrode or blocked something */
    LIMIT_SANDBOX = 24,  /* what holds a run, in a word: bwrap+landlock; who sees to its tools */
    LIMIT_LIMITS = 127,  /* what a run may use, and what sees to it, in a line */
    LIMIT_SCOPED = 1023, /* tools of a run, one a line: those of more may plan no work for others */
    LIMIT_NAME = 256,    /* a node's name, a tool, a person, a path pattern */
    LIMIT_LINE = 1024,   /* one criterion, constraint, assumption, part of a risk */
    LIMIT_PROSE = 8192,  /* a problem statement, an objective */
    LIMIT_SNAPSHOT = 4096,     /* GOAL-08: what was assumed about the repository */
    LIMIT_INSTRUCTION = 12288, /* STORE-12: the last instruction that was sent */
    LIMIT_TAG = 64,
    LIMIT_PHASE = 127,     /* what an agent says it is at */
    LIMIT_METRICS = 32,    /* numbers that it gives with that */
    LIMIT_AGENT = 63,      /* an agent, an account, a model, a repository, a team */
    LIMIT_SESSION = 127,   /* ASSIGN-16: agent:NAME:… */
    LIMIT_CAUSE = 95,      /* what a question is about, so that it is asked once */
    LIMIT_REFERENCE = 255, /* the address of an issue */
    LIMIT_COMMIT = 64,     /* a commit, in hexadecimal */
    LIMIT_BLOCKED = 127,   /* why an assignment is blocked, in a line */
    LIMIT_SCOPE = 95,      /* of a budget */
    LIMIT_MAIL = 8192,     /* one message between agents */
    LIMIT_UPDATE = 65536,  /* an agent's block that says how it goes */
    LIMIT_SEARCH = 256,    /* words to look for */

    LIMIT_NOTICE = 16384,     /* one encoded notice: it is the body of an effect */
    LIMIT_NOTICE_TEXT = 4096, /* what a person reads of it */
    LIMIT_CHOICE = 256,       /* one answer to choose from, one recommendation */
    LIMIT_URL = 512,

    /* lists, in entries */
    LIMIT_ARTIFACTS = 32,           /* files that a node has to leave, */
    LIMIT_ARTIFACT_KEYS = 32,       /* keys that each item of one has; a bit for each */
    LIMIT_ARTIFACT_JSON = 16 << 20, /* bytes of one that are read */
    LIMIT_ARTIFACT_DEPTH = 256,     /* of its JSON */
    LIMIT_LINES = 64,               /* criteria, constraints, risks, people, tools, paths */
    LIMIT_TAGS = 16,
    LIMIT_CHOICES = 8, /* answers, recommendations: more is no choice */

    /* one goal */
    LIMIT_OPEN_EFFECTS = 32, /* effects decided and not yet ended; more wait their turn */
    LIMIT_SPARE_EFFECTS = 8, /* of them, kept free for stops, settlements and messages to people */
    LIMIT_SAMPLED = 20,      /* TICK-07: messages of a session that are read */
    LIMIT_CHARGES = 64,      /* agents that work on one goal at once */
    LIMIT_QUESTIONS = 32,    /* open at once */
    LIMIT_MAIL_KEPT = 128,   /* messages not yet read */
    LIMIT_LETTERS = LIMIT_MAIL_KEPT + 32, /* and words of ours that could not be said yet */
    LIMIT_CHANNELS = 8,                   /* ways to reach a person */
    LIMIT_SAY_TRIES = 8,                  /* of one message on one channel */
    LIMIT_ISSUE = 47,          /* what a service calls what it was told: the number of an issue */
    LIMIT_REQUESTS = 5,        /* REQUEST-02: of one agent, in a minute */
    LIMIT_PENDING = 3,         /* REQUEST-03: of one agent, unanswered */
    LIMIT_PENDING_PARENT = 20, /* REQUEST-04: of one parent */

    LIMIT_NODES = 1024, /* nodes a plan ever had: retired ones keep their ids */
    LIMIT_DEPENDS = 16, /* nodes that one waits for */
    LIMIT_STEP_RECORDS =
        2 * LIMIT_NODES + 16, /* one for each node that moves, and those of the goal */
    LIMIT_ERAS = 65536,       /* restores of one store */
    LIMIT_ERA_GAP =
        65536, /* ordinals of effects left out after a restore: more than were ever lost */

    /* one plan from the planner; growth by hand is bounded by the second three */
    LIMIT_PLANNED_PHASES = 5,
    LIMIT_PLANNED_TASKS = 7,    /* a phase */
    LIMIT_PLANNED_SUBTASKS = 7, /* a task */
    LIMIT_PHASES = 32,
    LIMIT_TASKS = 64,
    LIMIT_SUBTASKS = 64,

    /* one desk */
    LIMIT_PERMITS = 16384, /* charges of one host that have begun or want to */
    LIMIT_ACCOUNTS = 64,
    LIMIT_BUDGETS = 1024,     /* windows that something was spent in */
    LIMIT_POLICY_AGENTS = 64, /* kinds of agents that an operator set up */
    LIMIT_POLICY_BUDGETS =
        LIMIT_BUDGETS / LIMIT_POLICY_AGENTS, /* each of them may count every agent by itself */
    LIMIT_PRICES = 64,                       /* models in the price table */
    LIMIT_QUOTA_DAYS = 8,      /* an account that claims to rest for longer is not believed */
    LIMIT_QUOTA_DOUBLINGS = 5, /* of a guess how long it rests */

    /* one batch: the group commit. 256 keeps a transaction near a millisecond on both engines */
    LIMIT_BATCH_SIGNALS = 256,
    LIMIT_BATCH_PLANS = 8, /* of them, whole plans: some 20 milliseconds each at a thousand nodes */

    /* one daemon: 10,000 agents, a million goals */
    LIMIT_QUEUE_SIGNALS = 8192,  /* waiting for the ledger; past that the doors answer 503 */
    LIMIT_WARM_GOALS = 16384,    /* in memory, about 40 MiB; more than one host's busy agents */
    LIMIT_WARM_BYTES = 67108864, /* of those goals' plans and charges */
    LIMIT_CLAIMS = 4096,         /* ready effects waiting for a claim; the rest stay in the store */
    LIMIT_ACTS = 64,             /* commands being carried out at once */
    LIMIT_AGENT_ACTS = 2048,     /* starts and sends: one that gets no receipt takes two minutes */
    LIMIT_STOP_ACTS = 256,       /* looks, stops, thaws: they do not wait behind starts */
    LIMIT_PEOPLE_ACTS = 16,      /* messages on their way to people */
    LIMIT_CHECK_ACTS = 4,        /* checks and landings */
    LIMIT_INSIDE_ACTS = 1024,    /* signals from one aggregate to another */
    LIMIT_PATIENCE = 16,         /* times a signal is tried again after conflicts */

    /* pages read from the store in one request */
    LIMIT_OWNED_PAGE = 4096,
    LIMIT_ADOPT_PAGE = 512,
    LIMIT_INBOX_PAGE = 512,
    LIMIT_INBOX = 16384, /* signals that wait for one host; then no more are taken for it (P9) */
    LIMIT_WATCHED_HOSTS =
        2,              /* each host watches its next neighbours: 1,000 hosts cost 2,000 rows */
    LIMIT_HOSTS = 4096, /* rows of hosts that are read when a number is chosen, or shown */

    /* doors */
    LIMIT_HTTP_BODY = 1048576,     /* a plan as JSON */
    LIMIT_HTTP_CONNECTIONS = 1536, /* on the Unix socket: 512 that write, 1,000 that follow */
    LIMIT_TCP_CONNECTIONS = 1536,
    LIMIT_FILES =
        65536, /* open at once: both doors full, stores, commands and their pipes, and one for each run */
    LIMIT_FILES_BESIDE = 4096,   /* all of that but the runs: what is above it can be runs */
    LIMIT_TCP_STRANGERS = 128,   /* on TCP, not yet known by a token */
    LIMIT_TCP_PER_ADDRESS = 512, /* from one address, known or not */
    LIMIT_RUN_CONNECTIONS =
        64, /* of one run at one Unix socket: its tools, and those of what it starts */
    LIMIT_HEADER_SECONDS = 10,  /* until a request has to be whole */
    LIMIT_IDLE_SECONDS = 120,   /* between the requests of one connection */
    LIMIT_TOKENS = 16384,       /* ten thousand runs, and people */
    LIMIT_FOLLOWERS = 1200,     /* of events, all doors together */
    LIMIT_EVENTS_PAGE = 500,    /* records in one answer */
    LIMIT_RING = 4096,          /* events kept for those who follow: over a minute of 50 a second */
    LIMIT_RING_BYTES = 8388608, /* of them, as text */
    LIMIT_SPOOL = 67108864,     /* bytes of reports kept while the store is away */
    LIMIT_MCP_SESSIONS = 16384,
    LIMIT_NAMED = 8,       /* goals named when the beginning of an id fits several */
    LIMIT_PREFIX = 4,      /* the shortest beginning of an id that is looked up */
    LIMIT_ORDERS = 64,     /* of operators, waiting */
    LIMIT_POLICY = 65536,  /* bytes of one policy as text */
    LIMIT_SETTING = 4096,  /* bytes of one setting */
    LIMIT_CONFIG = 262144, /* bytes of one file of settings */
    LIMIT_OPS = 256,       /* operations that are counted, each by itself */
    LIMIT_JSON_DEPTH = 16,
    LIMIT_SHOWN_RECORDS = 50,
    LIMIT_FINDINGS = 16, /* kept of what an examination finds; the rest is counted */
    LIMIT_LIST_PAGE = 200,
    LIMIT_CACHE_ANSWER = 1 << 16, /* bytes of an answer that is kept: larger ones are rare */
    LIMIT_CACHE_BYTES = 1 << 24,  /* of all that are kept: what 10,000 usual goals take */
    LIMIT_BRIEF =
        25, /* goals with their live rows and texts in one answer of the store: at most some MB each */
    LIMIT_FOUND = 16, /* goals named when a node's id is ambiguous */

    /* channels to people */
    LIMIT_SAYING = 64,            /* messages under way at once */
    LIMIT_CHANNEL_BYTES = 65536,  /* of an answer that are read; one that is longer is let go of */
    LIMIT_CHANNEL_LOOK = 1048576, /* the same of a list of issues */
    LIMIT_LOOK_PAGES = 10,        /* pages of such a list */
    LIMIT_LOOK_PAGE = 20,         /* issues on one of them */
    LIMIT_TOKEN_FILE = 4096,      /* bytes of a file with a token */
    LIMIT_AGAIN_DAYS = 7, /* a service that asks for more patience than this is not believed */

    /* secrets */
    LIMIT_SECRET_CUSTOM = 32,   /* patterns of the operator */
    LIMIT_SECRET_PATTERN = 512, /* bytes of one pattern */
    LIMIT_SECRET_PIECES = 64,   /* pieces of one pattern */
    LIMIT_SECRET_CHOICES = 32,  /* texts in one ( ) of a pattern */
    LIMIT_SECRET_COUNT = 4096,  /* how often a piece may be asked for */
    LIMIT_SECRET_STARTS =
        4096, /* four-byte beginnings of one pattern: more would slow every search */
    LIMIT_SECRET_SHAPES = 256,  /* rows and custom patterns together */
    LIMIT_SECRET_LONG_RUNS = 4, /* in one pattern: each is remembered while a text is searched */
    LIMIT_SECRET_RUNS = 384,    /* all of them */
    LIMIT_SECRET_NAME = 20,     /* a mark is 11 longer; a find adds 32 bytes at most */
    LIMIT_SECRET_LOOK = 128,    /* bytes of a value that a check looks at */
    LIMIT_SECRET_PASSES = 8,    /* what is left after a redaction is searched again, this often */

    LIMIT_ACTS_KEPT = 4096, /* P13: what this host acted on last: 256 KiB of its state folder */

    /* the write-ahead log of SQLite: beyond this it is begun anew, and how long that may hold writers up */
    LIMIT_STORE_LOG_BYTES = 64 << 20,
    LIMIT_STORE_LOG_CUT_MS = 100,

    /* waiting for PostgreSQL, in milliseconds */
    LIMIT_STORE_ANSWER_MS = 8000, /* for a statement: the server gives up after 5 s */
    LIMIT_STORE_FIRST_MS = 4000,  /* for the first ones of a connection, which cost nothing */
    LIMIT_STORE_BESIDE_MS = 2000, /* for a second connection, while a pooler is recognised */
    LIMIT_STORE_TOO_LONG =
        2, /* requests in a row that wait for a lock; then another node is looked for */
    LIMIT_STORE_EXAMINE_MS = 20000,   /* for a page of an examination */
    LIMIT_STORE_PAGE_MS = 90000,      /* for a page of retention: the server gives up after 60 s */
    LIMIT_STORE_MIGRATE_MS = 3600000, /* for a statement that brings the tables up to date */

    /* retention */
    LIMIT_RETAIN_ROWS = 4096,    /* rows in one of its steps, however fast the disk is */
    LIMIT_RETAIN_WAL = 67108864, /* bytes of a write-ahead log that it waits for to be moved on */
};
