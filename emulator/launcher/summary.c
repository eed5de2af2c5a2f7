/* launcher/summary.c - contract in summary.h. The record is text of other processes: lines that are no lines of a
 * record are passed over, and a NUL ends a line. */
#include "launcher/summary.h"

#include "base/heap.h"
#include "report/record.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES                                                                                                     \
    ((size_t)64 << 20) /* of a record: some 200,000 lines; what comes after is not read, and that is said */
#define SHOWN 32u      /* findings that are listed */
#define NAMED 4u       /* and of each, tests or processes */

/* A finding of the record: its fields lie in the record's text. */
struct found {
    const char *class, *id, *place; /* the bug */
    const char *pid, *command, *test;
};

struct lines {
    struct found *found;
    uint32_t num, cap;
    const char **users;
    uint32_t num_users, cap_users;
    bool unseen;
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The record; owned by the caller. `cut`: there is more than is read. */
static char *read_all(int record, size_t *have, bool *cut) {
    struct stat st;
    size_t size = fstat(record, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
    *cut = size > MOST_BYTES;
    size = *cut ? MOST_BYTES : size;
    char *text = xcalloc(size + 1, 1);
    *have = 0;
    for (ssize_t n; *have < size && (n = pread(record, text + *have, size - *have, (off_t)*have)) > 0;)
        *have += (size_t)n;
    return text;
}

static void take_user(struct lines *l, const char *pid) {
    l->users = xgrow(l->users, l->num_users, &l->cap_users, sizeof *l->users);
    l->users[l->num_users++] = pid;
}

/* Takes a line apart, in place. */
static void take_line(struct lines *l, char *line) {
    char *field[RECORD_FIELDS] = {0};
    unsigned n = 0;
    for (char *at = line; at && n < RECORD_FIELDS; n++) {
        field[n] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = 0;
    }
    const bool unseen = strcmp(field[0], RECORD_UNSEEN) == 0, use = strcmp(field[0], RECORD_USE) == 0;
    if (n < 3 || (!unseen && !use && (strcmp(field[0], RECORD_FOUND) != 0 || n < RECORD_FIELDS)))
        return;
    l->unseen |= unseen;
    take_user(l, field[1]);
    if (n < RECORD_FIELDS)
        return;
    l->found = xgrow(l->found, l->num, &l->cap, sizeof *l->found);
    l->found[l->num++] = (struct found){
        .pid = field[1], .command = field[2], .test = field[3], .class = field[4], .id = field[5], .place = field[6]};
}

/* --- sorting ------------------------------------------------------------------------------------------------------ */

static int by_bug(const struct found *a, const struct found *b) {
    int c = strcmp(a->id, b->id);
    c = c ? c : strcmp(a->place, b->place);
    return c ? c : strcmp(a->class, b->class);
}

/* A test is one, in whichever process it ran; without a test it is the process. */
static int by_who(const struct found *a, const struct found *b) {
    const int c = strcmp(a->test, b->test);
    return c || *a->test ? c : strcmp(a->pid, b->pid);
}

static int compare(const void *a, const void *b) {
    const int c = by_bug(a, b);
    return c ? c : by_who(a, b);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* A process has several lines. */
static uint32_t count_processes(const struct lines *l) {
    uint32_t n = 0;
    if (l->num_users)
        qsort(l->users, l->num_users, sizeof *l->users, by_text);
    for (uint32_t i = 0; i < l->num_users; i++)
        n += i == 0 || strcmp(l->users[i - 1], l->users[i]) != 0;
    return n;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

/* The line of a bug: those from `first` to before `end`. */
static void put_bug(FILE *out, const struct found *first, const struct found *end) {
    uint32_t n = 0;
    fprintf(out, "  %s: %s [%s]:", first->class, first->place, first->id);
    for (const struct found *f = first; f < end; f++) {
        if (f > first && by_who(f - 1, f) == 0)
            continue;
        n++;
        if (n > NAMED)
            continue;
        if (*f->test)
            fprintf(out, "%s %s", n > 1 ? "," : "", f->test);
        else
            fprintf(out, "%s %s (process %s)", n > 1 ? "," : "", f->command, f->pid);
    }
    if (n > NAMED)
        fprintf(out, ", and %u more", n - NAMED);
    fputc('\n', out);
}

/* Whether the reports have not said who found it. */
static bool is_of_many(const struct lines *l, pid_t program) {
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)program);
    for (uint32_t i = 0; i < l->num; i++)
        if (*l->found[i].test || strcmp(l->found[i].pid, pid) != 0)
            return true;
    return false;
}

static void put_all(const struct lines *l, const struct summary *s, FILE *out) {
    const struct found *end = l->found + l->num;
    uint32_t shown = 0;
    fprintf(out, "sm100emu: %u finding%s in a run of %u process%s with a device:\n", s->findings,
            s->findings == 1 ? "" : "s", s->processes, s->processes == 1 ? "" : "es");
    for (const struct found *first = l->found, *f = first; f < end && shown < SHOWN; first = f, shown++) {
        while (f < end && by_bug(first, f) == 0)
            f++;
        put_bug(out, first, f);
    }
    if (s->findings > shown)
        fprintf(out, "  and %u more\n", s->findings - shown);
}

struct summary summary_of(int record, pid_t program, FILE *out) {
    struct lines l = {0};
    size_t size;
    bool cut;
    char *text = read_all(record, &size, &cut), *end;
    for (char *line = text; (end = memchr(line, '\n', (size_t)(text + size - line))) != NULL; line = end + 1) {
        *end = 0;
        take_line(&l, line);
    }
    if (l.num)
        qsort(l.found, l.num, sizeof *l.found, compare);
    struct summary s = {.processes = count_processes(&l), .unseen = l.unseen || cut};
    for (uint32_t i = 0; i < l.num; i++)
        s.findings += i == 0 || by_bug(&l.found[i - 1], &l.found[i]) != 0;
    if (out && is_of_many(&l, program))
        put_all(&l, &s, out);
    if (out && cut)
        fprintf(out,
                "sm100emu: note: the record of this run is longer than %zu MiB: the summary and the exit code lack the "
                "rest\n",
                MOST_BYTES >> 20);
    xfree(l.found);
    xfree(l.users);
    xfree(text);
    return s;
}
