/* report/findings.h - what was found in the kernels of a process: one entry a bug, however often it was met.
 *
 * A bug is a rule broken at a line, or by two lines (diag_key). An island keeps what it meets in a list of its own,
 * which island_tell adds to the list of the process; that one outlives modules, launches and devices, and is what the
 * reports on stderr, the file of --check-json and the exit code are made of.
 */
#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "base/arena.h"
#include "report/bounds.h"
#include "report/diag.h"

#include <stdbool.h>
#include <stdint.h>

struct suppression;
struct suppressions;

#define FINDINGS_MAX 256u    /* bugs of a list; errors have room beyond */
#define FINDINGS_REPORTS 16u /* warnings that a launch reports */

enum finding_state {
    FINDING_TOLD,       /* its report was given; of an island, is to be given */
    FINDING_CUT,        /* FINDINGS_REPORTS of one launch were told before */
    FINDING_BELOW,      /* its class is not of the level chosen: of DIAG_STRICT without --check=strict */
    FINDING_SUPPRESSED, /* --suppress */
};

struct finding {
    struct finding *next;
    uint64_t key;
    const struct diag *diag; /* of the first time, with its site, thread and other party; the list's */
    const char *message;     /* the sentence that says what happened; the list's */
    enum finding_state state;
    const struct suppression *suppression; /* FINDING_SUPPRESSED */
    uint64_t count;                        /* times met */
    uint64_t told;                         /* of these, told of: by the report or by findings_tell_more */
    uint64_t launch;                       /* findings.launches when it was told */
    struct diag_thread last;               /* who met it last */
    uint64_t recorded;                     /* of its count, what the record of the run knows (report/record.h) */
    uint64_t recorded_by;                  /* process and test of the last line there; 0: there is none */
};

struct findings {
    struct finding *first, *last; /* in the order in which they were told */
    uint32_t num;
    uint64_t met;      /* times that any of them was met */
    uint64_t lost;     /* times that a bug was met for which there was no room */
    uint64_t launches; /* begun */
    uint32_t reports;  /* warnings of this launch that were told */
    uint32_t cut;      /* bugs of this launch that would have been told, were it not for FINDINGS_REPORTS */
    uint32_t unseen;   /* bits of enum bound: what the checks did not see of the launches so far */
    uint64_t changes;  /* bumped with each change of the list that --check-json shows, but for counts */
    struct arena arena;
    const struct suppressions *suppressions; /* NULL: none */
    /* Called when `changes` has grown, between the turns of the islands; and when a launch ends. May be NULL. */
    void (*changed)(void *ctx);
    void (*launch_ended)(void *ctx);
    void *ctx;
};

/* The entry of that key, or NULL. */
struct finding *findings_find(const struct findings *f, uint64_t key);
/* A new entry with copies of `d` and `message`, met no time yet; NULL where there is no room. */
struct finding *findings_add(struct findings *f, uint64_t key, const struct diag *d, const char *message);
/* What becomes of a finding that has no entry yet: `strict` findings are told too, and *by names what suppresses it. */
enum finding_state findings_judge(const struct findings *f, const struct diag *d, bool strict,
                                  const struct suppression **by);
/* Forgets all entries and counts; what was set by others stays. */
void findings_clear(struct findings *f);
/* The same, and the list itself, from the heap. NULL is allowed. */
void findings_free(struct findings *f);
/* How many were met that are of the level chosen and not suppressed. */
uint32_t findings_of_level(const struct findings *f);
/* `all` is the list of the process, `f` an entry of an island's: its report, unless it was given before or enough were;
 * that of a fault always. */
void findings_tell(struct findings *all, const struct diag_sink *sink, const struct finding *f);
/* What the island met goes into the counts of the process. */
void findings_take_counts(struct findings *all, struct findings *found);

void findings_begin_launch(struct findings *f);
/* Tells of what was met again, and of how much was cut. unseen: bits of enum bound, of this launch. */
void findings_end_launch(struct findings *f, const struct diag_sink *sink, uint32_t unseen);
/* A line for each report that stands for more than was told: of those told in the running launch, or, with `all`, of
 * any. `when` says how the others came, "" or " in later launches". */
void findings_tell_more(struct findings *f, const struct diag_sink *sink, bool all, const char *when);

#endif
