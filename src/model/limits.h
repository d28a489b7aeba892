/* SPDX-License-Identifier: Apache-2.0 */
/* All limits of Overseer, with their reasons. */
#pragma once

enum {
    /* texts, in bytes */
    LIMIT_TITLE = 512,    /* one line that a person reads in a list */
    LIMIT_COMMAND = 2048, /* longer ones belong in a script */
    LIMIT_REPORT = 1024,  /* longer texts are stored separately, by hash */
    LIMIT_OUTPUT = 1024,  /* the tail of a command's output that is kept as evidence */
    LIMIT_OUTPUT_SEEN =
        16384, /* tail of the output that is searched for secrets: longer than any of them */
    LIMIT_ACTOR = 128,           /* name of the actor */
    LIMIT_KEY = 128,             /* a caller's idempotency key */
    LIMIT_RECORD_BODY = 2048,    /* evidence of one decision */
    LIMIT_RECORD_INPUT = 512,    /* of it, the signal itself; longer ones are stored separately */
    LIMIT_PLAN = 262144,         /* one encoded plan: a thousand nodes with a few lines each */
    LIMIT_BODY = 4 * LIMIT_PLAN, /* a request body, plus the marks that replaced its secrets */
    LIMIT_SIGNAL_BODY = LIMIT_BODY + 8192, /* one encoded signal, in the inbox or set aside */
    LIMIT_HOST_TEXT = 128,                 /* build and address of a host */
    LIMIT_WHY = 512,                       /* a reason in an error or a quarantine row */
    LIMIT_NODE_ID = 31,                    /* S1.1.1, or the planner's own id */
    LIMIT_REASON = 512,                    /* why something was moved, overridden or blocked */
    LIMIT_SANDBOX =
        24, /* sandbox of a run, in one word: bwrap+landlock; how its tool scope is applied */
    LIMIT_LIMITS = 127, /* resource limits of a run and what enforces them, in one line */
    LIMIT_SCOPED =
        1023, /* tools of a run, one per line: an agent with more may not plan work for others */
    LIMIT_NAME = 256,          /* a node's name, a tool, a person, a path pattern */
    LIMIT_LINE = 1024,         /* one criterion, constraint, assumption, part of a risk */
    LIMIT_PROSE = 8192,        /* a problem statement, an objective */
    LIMIT_SNAPSHOT = 4096,     /* GOAL-08: what was assumed about the repository */
    LIMIT_INSTRUCTION = 12288, /* STORE-12: the last instruction that was sent */
    LIMIT_TAG = 64,
    LIMIT_PHASE = 127,        /* phase that an agent reports */
    LIMIT_METRICS = 32,       /* metrics that it reports with it */
    LIMIT_AGENT = 63,         /* an agent, an account, a model, a repository, a team */
    LIMIT_SESSION = 127,      /* ASSIGN-16: agent:NAME:… */
    LIMIT_HOST_ENTRY = 262,   /* HOST:PORT */
    LIMIT_QUESTION_NAME = 87, /* Q-REPOSITORY.3 */
    LIMIT_CAUSE = 95,         /* cause of a question, so that it is asked once */
    LIMIT_REFERENCE = 255,    /* the address of an issue */
    LIMIT_COMMIT = 64,        /* a commit, in hexadecimal */
    LIMIT_SUBJECT = 72,       /* first line of a commit message */
    LIMIT_BRANCH = 127,       /* the branch of a run, below overseer/ */
    LIMIT_BLOCKED = 127,      /* why an assignment is blocked, in a line */
    LIMIT_SCOPE = 95,         /* of a budget */
    LIMIT_MAIL = 8192,        /* one message between agents */
    LIMIT_UPDATE = 65536,     /* an agent's update block */
    LIMIT_SEARCH = 256,       /* search terms */

    LIMIT_NOTICE = 16384,     /* one encoded notice: it is the body of an effect */
    LIMIT_NOTICE_TEXT = 4096, /* what a person reads of it */
    LIMIT_CHOICE = 256,       /* one answer option, one recommendation */
    LIMIT_URL = 512,

    /* lists, in entries */
    LIMIT_ARTIFACTS = 32,           /* files that a node has to produce, */
    LIMIT_ARTIFACT_KEYS = 32,       /* keys that each item of one must have; one bit for each */
    LIMIT_ARTIFACT_JSON = 16 << 20, /* bytes of one that are read */
    LIMIT_ARTIFACT_DEPTH = 256,     /* of its JSON */
    LIMIT_LINES = 64,               /* criteria, constraints, risks, people, tools, paths */
    LIMIT_TAGS = 16,
    LIMIT_CHOICES = 8, /* answer options, recommendations: more are too many to choose from */

    /* one goal */
    LIMIT_OPEN_EFFECTS = 32, /* effects decided and not yet ended; more have to wait */
    LIMIT_SPARE_EFFECTS = 8, /* of them, kept free for stops, settlements and messages to people */
    LIMIT_SAMPLED = 20,      /* TICK-07: messages of a session that are read */
    LIMIT_ASSIGNMENTS = 64,  /* agents that work on one goal at once */
    LIMIT_QUESTIONS = 32,    /* open at once */
    LIMIT_MAIL_KEPT = 128,   /* messages not yet read */
    LIMIT_AGENT_MESSAGES =
        LIMIT_MAIL_KEPT + 32,  /* plus texts of Overseer that could not be sent yet */
    LIMIT_CHANNELS = 8,        /* ways to reach a person */
    LIMIT_SAY_TRIES = 8,       /* attempts to send one message on one channel */
    LIMIT_ISSUE = 47,          /* reference that a service gives a notice: the number of an issue */
    LIMIT_REQUESTS = 5,        /* REQUEST-02: requests of one agent per minute */
    LIMIT_PENDING = 3,         /* REQUEST-03: unanswered requests of one agent */
    LIMIT_PENDING_PARENT = 20, /* REQUEST-04: unanswered requests to one parent */

    LIMIT_NODES = 1024, /* nodes a plan ever had: retired ones keep their ids */
    LIMIT_DEPENDS = 16, /* dependencies of one node */
    LIMIT_STEP_RECORDS =
        2 * LIMIT_NODES + 16, /* one for each node that moves, plus those of the goal */
    LIMIT_ERAS = 65536,       /* restores of one store */
    LIMIT_ERA_GAP = 65536, /* effect ordinals skipped after a restore: more than were ever lost */

    /* one plan from the planner; the three limits after these bound manual additions */
    LIMIT_PLANNED_PHASES = 5,
    LIMIT_PLANNED_TASKS = 7,    /* per phase */
    LIMIT_PLANNED_SUBTASKS = 7, /* per task */
    LIMIT_PHASES = 32,
    LIMIT_TASKS = 64,
    LIMIT_SUBTASKS = 64,

    /* admission of one host */
    LIMIT_PERMITS = 16384, /* assignments of one host that have begun or want to */
    LIMIT_ACCOUNTS = 64,
    LIMIT_QUOTA_WINDOWS = 6, /* of one account */
    LIMIT_QUOTA_KIND = 31,   /* bytes of the name of such a window */
    LIMIT_ACCOUNT_ROWS = LIMIT_ACCOUNTS * (1 + LIMIT_QUOTA_WINDOWS),
    LIMIT_BUDGETS = 1024,     /* windows in which something was spent */
    LIMIT_POLICY_AGENTS = 64, /* agents that an operator configured */
    LIMIT_POLICY_BUDGETS =
        LIMIT_BUDGETS / LIMIT_POLICY_AGENTS, /* each of them may count every agent separately */
    LIMIT_REPOSITORIES = 64,                 /* entries of [[repos]] */
    LIMIT_HOST_ACCESSES = 128, /* hosts that runs of one repository were denied, or may reach */
    LIMIT_HOST_QUESTIONS = 8,  /* of them, asked about at once */
    LIMIT_BATCH_NAME = 57,     /* LIMIT_TAG without "batch:" */
    LIMIT_TASK_BATCHES =
        64, /* batches of tasks that one host keeps: the oldest that has ended makes room */
    LIMIT_BATCH_TASKS = 200,   /* tasks that are handed over at once */
    LIMIT_NUMBERS = 16,        /* numbers for names that a host takes at a time */
    LIMIT_NUMBER_GAP = 1000,   /* numbers left out after a restore */
    LIMIT_PRICES = 64,         /* models in the price table */
    LIMIT_RESET_DAYS = 35,     /* a quota window that reports a later reset is not believed */
    LIMIT_QUOTA_DAYS = 8,      /* an account that reports a longer rest is not believed */
    LIMIT_QUOTA_DOUBLINGS = 5, /* of a guessed rest */

    /* one batch: the group commit. 256 keeps a transaction near a millisecond on both engines */
    LIMIT_BATCH_SIGNALS = 256,
    LIMIT_BATCH_PLANS =
        8, /* of them, whole plans: about 20 milliseconds each at a thousand nodes */

    /* one daemon: 10,000 agents, a million goals */
    LIMIT_QUEUE_SIGNALS =
        8192,                 /* waiting for the ledger; beyond that the HTTP server answers 503 */
    LIMIT_WARM_GOALS = 16384, /* in memory, about 40 MiB; more than one host's busy agents */
    LIMIT_WARM_BYTES = 67108864, /* of those goals' plans and assignments */
    LIMIT_CLAIMS = 4096,         /* ready effects waiting for a claim; the rest stay in the store */
    LIMIT_ACTS = 64,             /* commands carried out at once */
    LIMIT_AGENT_ACTS = 2048,     /* starts and sends: one without a receipt takes two minutes */
    LIMIT_STOP_ACTS = 256,       /* looks, stops, thaws: they do not wait behind starts */
    LIMIT_PEOPLE_ACTS = 16,      /* messages being sent to people */
    LIMIT_CHECK_ACTS = 4,        /* checks and landings */
    LIMIT_INSIDE_ACTS = 1024,    /* signals from one aggregate to another */
    LIMIT_CONFLICT_RETRIES = 16, /* retries of a signal after conflicts */

    /* pages read from the store in one request */
    LIMIT_OWNED_PAGE = 4096,
    LIMIT_ADOPT_PAGE = 512,
    LIMIT_INBOX_PAGE = 512,
    LIMIT_INBOX =
        16384, /* signals that wait for one host; beyond that none are accepted for it (P9) */
    LIMIT_NEIGHBOURS = 2, /* each host watches its next neighbours: 1,000 hosts cost 2,000 rows */
    LIMIT_HOSTS = 4096,   /* host rows that are read to choose a number, or to show them */

    /* HTTP listeners */
    LIMIT_HTTP_BODY = 1048576,     /* a plan as JSON */
    LIMIT_HTTP_CONNECTIONS = 1536, /* on the Unix socket: 512 writers, 1,000 event followers */
    LIMIT_TCP_CONNECTIONS = 1536,
    LIMIT_FILES =
        65536, /* open at once: both listeners at their limit, stores, commands and their pipes, and one for each run */
    LIMIT_FILES_BESIDE = 4096, /* all of these except the runs: the rest is available for runs */
    LIMIT_TCP_UNAUTHENTICATED = 128, /* on TCP, not yet authenticated by a token */
    LIMIT_TCP_PER_ADDRESS = 512,     /* from one address, authenticated or not */
    LIMIT_RUN_CONNECTIONS =
        64, /* of one run on one Unix socket: its tools, and those of what it starts */
    LIMIT_HEADER_SECONDS = 10,  /* until a request has to be complete */
    LIMIT_IDLE_SECONDS = 120,   /* between requests on one connection */
    LIMIT_TOKENS = 16384,       /* ten thousand runs, plus people */
    LIMIT_FOLLOWERS = 1200,     /* of events, on all listeners together */
    LIMIT_EVENTS_PAGE = 500,    /* records in one answer */
    LIMIT_RING = 4096,          /* events kept for followers: over a minute at 50 per second */
    LIMIT_RING_BYTES = 8388608, /* of them, as text */
    LIMIT_SPOOL = 67108864,     /* bytes of reports kept while the store is unavailable */
    LIMIT_MCP_SESSIONS = 16384,
    LIMIT_NAMED = 8,       /* goals listed when the prefix of an id matches several */
    LIMIT_PREFIX = 4,      /* shortest prefix of an id that is looked up */
    LIMIT_ORDERS = 64,     /* operators' orders that wait */
    LIMIT_POLICY = 65536,  /* bytes of one policy as text */
    LIMIT_SETTING = 4096,  /* bytes of one setting */
    LIMIT_CONFIG = 262144, /* bytes of one settings file */
    LIMIT_OPS = 256,       /* operations that are counted separately */
    LIMIT_JSON_DEPTH = 16,
    LIMIT_SHOWN_RECORDS = 50,
    LIMIT_FINDINGS = 16, /* findings of an examination that are kept; the rest is counted */
    LIMIT_LIST_PAGE = 200,
    LIMIT_CACHE_ANSWER = 1 << 16, /* bytes of a cached answer: larger ones are rare */
    LIMIT_CACHE_BYTES = 1 << 24,  /* bytes of all cached answers: enough for 10,000 typical goals */
    LIMIT_BRIEF =
        25, /* goals with their live rows and texts in one answer of the store: at most a few MB each */
    LIMIT_FOUND = 16, /* goals listed when a node's id is ambiguous */

    /* channels to people */
    LIMIT_SAYING = 64,            /* messages being sent at once */
    LIMIT_CHANNEL_BYTES = 65536,  /* bytes of an answer that are read; a longer one is dropped */
    LIMIT_CHANNEL_LOOK = 1048576, /* the same for a list of issues */
    LIMIT_LOOK_PAGES = 10,        /* pages of such a list */
    LIMIT_LOOK_PAGE = 20,         /* issues on one page */
    LIMIT_TOKEN_FILE = 4096,      /* bytes of a token file */
    LIMIT_AGAIN_DAYS = 7,         /* a service that asks for a longer delay is not believed */

    /* secrets */
    LIMIT_SECRET_CUSTOM = 32,   /* the operator's patterns */
    LIMIT_SECRET_PATTERN = 512, /* bytes of one pattern */
    LIMIT_SECRET_PIECES = 64,   /* pieces of one pattern */
    LIMIT_SECRET_CHOICES = 32,  /* texts in one ( ) of a pattern */
    LIMIT_SECRET_COUNT = 4096,  /* maximum repetition of a piece */
    LIMIT_SECRET_STARTS = 4096, /* four-byte starts of one pattern: more would slow every search */
    LIMIT_SECRET_SHAPES = 256,  /* rows and custom patterns together */
    LIMIT_SECRET_LONG_RUNS = 4, /* in one pattern: each is remembered during a search */
    LIMIT_SECRET_RUNS = 384,    /* in all patterns together */
    LIMIT_SECRET_NAME = 20,     /* a mark is 11 bytes longer; a match adds at most 32 bytes */
    LIMIT_SECRET_LOOK = 128,    /* bytes of a value that a check examines */
    LIMIT_SECRET_PASSES = 8,    /* how often the result of a redaction is searched again */

    LIMIT_ACTS_KEPT = 4096, /* P13: newest actions of this host: 256 KiB in its state folder */

    /* SQLite's write-ahead log: the size beyond which it is truncated, and how long that may delay writers */
    LIMIT_STORE_LOG_BYTES = 64 << 20,
    LIMIT_STORE_LOG_CUT_MS = 100,

    /* waiting for PostgreSQL, in milliseconds */
    LIMIT_STORE_ANSWER_MS = 8000, /* for a statement: the server gives up after 5 s */
    LIMIT_STORE_FIRST_MS = 4000,  /* for the first statements of a connection, which cost nothing */
    LIMIT_STORE_BESIDE_MS = 2000, /* for a second connection, while a pooler is being detected */
    LIMIT_STORE_TOO_LONG =
        2, /* requests in a row that wait for a lock; then another node is tried */
    LIMIT_STORE_EXAMINE_MS = 20000,   /* for a page of an examination */
    LIMIT_STORE_PAGE_MS = 90000,      /* for a page of retention: the server gives up after 60 s */
    LIMIT_STORE_MIGRATE_MS = 3600000, /* for a statement that migrates the tables */

    /* retention */
    LIMIT_RETAIN_ROWS = 4096, /* rows in one step, however fast the disk is */
    LIMIT_RETAIN_WAL =
        67108864, /* bytes of a write-ahead log above which retention waits for a checkpoint */
};
