/* explore/explore.c - the order of the runs, and what is told of them; contract in explore.h. */
#include "explore/explore.h"

#include "base/heap.h"
#include "base/now.h"
#include "explore/child.h"
#include "machine/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds that a kernel may take in the first run, and in others beside PATIENCE times what the first took. */
#define FIRST_LIMIT 600.0
#define LIMIT 10.0
#define PATIENCE 100.0
#define FIXED 2u           /* schedules without a seed: eager, lazy */
#define TURN_MS 50         /* at most between two looks at the children */
#define SHOW_NS 200000000u /* between two lines of progress */

struct exploration {
    const struct explore *e;
    regex_t ignore;
    struct outcome base;
    double limit;
    uint64_t runs; /* that there are beside the two under the default schedule */
    uint64_t next; /* to be started */
    uint64_t ended;
    uint64_t first; /* that differs, or `runs` */
    struct text why;
    uint64_t shown; /* when progress was, by now_ns */
};

bool explore_pattern(const char *ignore, char *why, size_t size) {
    regex_t r;
    const int e = regcomp(&r, ignore, REG_EXTENDED);
    if (e != 0)
        regerror(e, &r, why, size);
    else
        regfree(&r);
    return e == 0;
}

/* "pct:7,3,1200": the schedule of a run. */
static const char *schedule_of(const struct exploration *x, uint64_t run, char *text, size_t size) {
    static const char *const fixed[FIXED] = {"eager", "lazy"};
    const uint64_t seed = (run - FIXED) / 2 + 1;
    if (run < FIXED)
        snprintf(text, size, "%s", fixed[run]);
    else if (run % 2 == 0)
        snprintf(text, size, "random:%" PRIu64, seed);
    else if (x->base.steps)
        snprintf(text, size, "pct:%" PRIu64 ",%d,%" PRIu64, seed, EXPLORE_DEPTH, x->base.steps);
    else
        snprintf(text, size, "pct:%" PRIu64 ",%d", seed, EXPLORE_DEPTH);
    return text;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static void show_progress(struct exploration *x, bool last) {
    const uint64_t now = now_ns();
    if (!isatty(2) || (!last && now - x->shown < SHOW_NS))
        return;
    x->shown = now;
    if (last)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[K%" PRIu64 " of %" PRIu64 " runs%s", x->ended, x->runs,
                x->first < x->runs ? ", one differs" : "");
}

/* A word of a command line, quoted where a shell wants that. */
static void add_word(struct text *to, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:%@";
    const bool quote = !*word || strspn(word, plain) != strlen(word);
    text_add(to, " '", quote ? 2 : 1);
    for (; *word; word++)
        text_add(to, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    text_add(to, "'", quote);
}

/* The command that does a run once more. */
static void add_command(const struct exploration *x, const char *schedule, struct text *to) {
    char option[96];
    text_add(to, x->e->launcher, strlen(x->e->launcher));
    if (!getenv("SM100EMU_THREADS"))
        add_word(to, "--threads=1");
    for (const char *const *o = x->e->options; *o; o++)
        add_word(to, *o);
    snprintf(option, sizeof option, "--schedule=%s", schedule);
    add_word(to, option);
    add_word(to, x->e->path);
    for (char **a = x->e->argv + 1; *a; a++)
        add_word(to, *a);
}

static void tell_difference(const struct exploration *x) {
    char schedule[80];
    struct text command = {0};
    schedule_of(x, x->first, schedule, sizeof schedule);
    add_command(x, schedule, &command);
    fprintf(stderr,
            "sm100emu: %s gives another result, the first of eager, lazy, random:1, pct:1, random:2, ...\n%s  to see "
            "it again:\n    %s\n",
            schedule, x->why.s, command.s);
    xfree(command.s);
}

static void tell_same(const struct exploration *x) {
    char first[80], last[80];
    fprintf(stderr,
            "sm100emu: under eager, lazy, random:1 to random:%" PRIu64 " and %s to %s it does what it does by default\n"
            "sm100emu: this is no proof: there are other orders than those\n",
            x->e->seeds, schedule_of(x, FIXED + 1, first, sizeof first),
            schedule_of(x, x->runs - 1, last, sizeof last));
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* One run under the default schedule. */
static void run_default(struct exploration *x, struct outcome *o, double limit) {
    struct child child = {0}, *done = NULL;
    child_start(&child, x->e, "default", limit);
    while (!done)
        done = child_wait(&child, 1, TURN_MS);
    *o = child.outcome;
}

/* What the program says under the default schedule, once. */
static void pass_on(const struct outcome *o) {
    if (o->out.len)
        fwrite(o->out.s, 1, o->out.len, stdout);
    fflush(stdout);
    const char *at = o->err.s;
    for (size_t n; at && *at; at += n) {
        n = strcspn(at, "\n");
        n += at[n] == '\n';
        uint64_t steps = 0;
        if (getenv("SM100EMU_TIME") || getenv("SM100EMU_STATS") || !outcome_is_time(at, n, &steps))
            fwrite(at, 1, n, stderr);
    }
}

/* A run has ended: if it differs it is the first so far, since those behind the first are stopped, or never begun. */
static void judge(struct exploration *x, struct child *c, struct child *children, uint32_t jobs) {
    struct text why = {0};
    outcome_judge(&c->outcome, x->e->ignore ? &x->ignore : NULL);
    if (outcome_differs(&x->base, &c->outcome, &why)) {
        x->first = c->run;
        xfree(x->why.s);
        x->why = why;
        for (uint32_t i = 0; i < jobs; i++)
            if (children[i].pid && children[i].run > x->first)
                child_stop(&children[i]);
    } else {
        xfree(why.s);
    }
    outcome_free(&c->outcome);
    x->ended++;
}

static void run_others(struct exploration *x) {
    const uint32_t cpus = x->e->jobs ? x->e->jobs : worker_host_cpus(),
                   jobs = cpus < x->runs ? cpus : (uint32_t)x->runs;
    struct child *children = xcalloc(jobs, sizeof *children);
    uint32_t active;
    do {
        active = 0;
        for (uint32_t i = 0; i < jobs; i++) {
            char schedule[80];
            if (!children[i].pid && x->next < x->first) {
                children[i].run = x->next++;
                child_start(&children[i], x->e, schedule_of(x, children[i].run, schedule, sizeof schedule), x->limit);
            }
            active += children[i].pid != 0;
        }
        struct child *done = active ? child_wait(children, jobs, TURN_MS) : NULL;
        if (done)
            judge(x, done, children, jobs);
        show_progress(x, false);
    } while (active);
    show_progress(x, true);
    xfree(children);
}

static int exit_code(const struct outcome *o) {
    return WIFSIGNALED(o->status) ? 128 + WTERMSIG(o->status) : WEXITSTATUS(o->status);
}

/* Twice under the default schedule: false when the two differ. */
static bool run_base(struct exploration *x) {
    struct outcome again;
    const regex_t *ignore = x->e->ignore ? &x->ignore : NULL;
    run_default(x, &x->base, FIRST_LIMIT);
    pass_on(&x->base);
    outcome_judge(&x->base, ignore);
    x->limit = LIMIT + PATIENCE * x->base.seconds;
    if (x->base.stopped) /* once is enough */
        return true;
    run_default(x, &again, x->limit);
    outcome_judge(&again, ignore);
    const bool differs = outcome_differs(&x->base, &again, &x->why);
    outcome_free(&again);
    if (differs)
        fprintf(stderr,
                "sm100emu: two runs under the default schedule differ, so no other can be held to it:\n%s"
                "  --ignore=REGEX leaves out what is no result of the kernels, such as times\n",
                x->why.s);
    return !differs;
}

int explore_run(const struct explore *e) {
    struct exploration x = {.e = e, .runs = FIXED + 2 * e->seeds, .first = FIXED + 2 * e->seeds};
    if (e->ignore)
        regcomp(&x.ignore, e->ignore, REG_EXTENDED);
    int code = EXPLORE_USELESS;
    if (run_base(&x)) {
        run_others(&x);
        code = x.first < x.runs ? EXPLORE_DIFFERS : exit_code(&x.base);
        if (x.first < x.runs)
            tell_difference(&x);
        else
            tell_same(&x);
    }
    xfree(x.why.s);
    outcome_free(&x.base);
    if (e->ignore)
        regfree(&x.ignore);
    return code;
}
