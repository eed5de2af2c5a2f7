/* explore/outcome.h - what a run of the program gave, and how two runs differ. */
#ifndef EXPLORE_OUTCOME_H
#define EXPLORE_OUTCOME_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows; always NUL-terminated once something was added. */
struct text {
    char *s;
    size_t len, cap;
};
void text_add(struct text *w, const char *text, size_t len);
void text_format(struct text *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct outcome {
    int status;           /* as of waitpid */
    bool stopped;         /* it did not end in time, or printed more than OUTCOME_BYTES */
    double seconds;       /* that it took */
    struct text out, err; /* standard output and standard error */
    struct text reports;  /* "id at place and place\n", sorted, each once: outcome_judge */
    uint64_t steps;       /* most that --time tells of a kernel, 0: nothing */
};
#define OUTCOME_BYTES (UINT64_C(64) << 20) /* of either stream */

/* Is it a line of --time, "sm100emu: kernel: 0.5 s, N warp instructions, N steps"? Raises *steps to what it says. */
bool outcome_is_time(const char *line, size_t len, uint64_t *steps);
/* Takes from the finished run's output what is compared: finds the reports, removes lines of --time and, from the
 * output, what `ignore` (NULL: nothing) matches. */
void outcome_judge(struct outcome *o, const regex_t *ignore);
/* Adds to `why` a line for each way in which `o` differs from `base`. False: in none. */
bool outcome_differs(const struct outcome *base, const struct outcome *o, struct text *why);
void outcome_free(struct outcome *o);

#endif
