/* cmdline.h - one command line for all steps: `--name value`, `--name=value` or `--flag`, from a table.
 *
 * A step fills an array of struct cl_option. The value of a variable before cmdline_parse() is its default, which
 * --help shows. For a value that is not allowed, one line on stderr says what is allowed, and the exit code is 2.
 * --help prints the table and exits with 0. Host only.
 *
 * Call it first in main(): it also makes stdout line-buffered. So the output of the step and reports on stderr are in
 * the right order, also in a file.
 */
#ifndef COMMON_CMDLINE_H
#define COMMON_CMDLINE_H

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cl_kind {
    CL_INT,    /* int: min ... max, a multiple of `step` */
    CL_POW2,   /* int: a power of two from min to max */
    CL_FLOAT,  /* float: any finite number */
    CL_SEED,   /* uint64_t */
    CL_CHOICE, /* int: index of a word in `choices`, which ends with NULL */
    CL_FLAG,   /* int: 1 if the option is given; it takes no value */
};

struct cl_option {
    const char *name; /* without the dashes */
    enum cl_kind kind;
    void *value; /* where the value goes, of the kind's type; holds the default */
    const char *help;
    int min, max, step;         /* CL_INT, CL_POW2 */
    const char *const *choices; /* CL_CHOICE */
};

/* An option of each kind. value: where it goes; help: what it is. */
static inline struct cl_option cl_int(const char *name, int *value, const char *help, int min, int max, int step) {
    return (struct cl_option){
        .name = name, .kind = CL_INT, .value = value, .help = help, .min = min, .max = max, .step = step};
}

static inline struct cl_option cl_pow2(const char *name, int *value, const char *help, int min, int max) {
    return (struct cl_option){.name = name, .kind = CL_POW2, .value = value, .help = help, .min = min, .max = max};
}

static inline struct cl_option cl_float(const char *name, float *value, const char *help) {
    return (struct cl_option){.name = name, .kind = CL_FLOAT, .value = value, .help = help};
}

static inline struct cl_option cl_seed(const char *name, uint64_t *value, const char *help) {
    return (struct cl_option){.name = name, .kind = CL_SEED, .value = value, .help = help};
}

static inline struct cl_option cl_choice(const char *name, int *value, const char *help, const char *const *choices) {
    return (struct cl_option){.name = name, .kind = CL_CHOICE, .value = value, .help = help, .choices = choices};
}

static inline struct cl_option cl_flag(const char *name, int *value, const char *help) {
    return (struct cl_option){.name = name, .kind = CL_FLAG, .value = value, .help = help};
}

/* What the option takes, as a phrase that fits "--m takes ...". */
static inline void cl_allowed(const struct cl_option *o, char *text, size_t size) {
    switch (o->kind) {
    case CL_INT:
        if (o->step > 1)
            snprintf(text, size, "a multiple of %d from %d to %d", o->step, o->min, o->max);
        else
            snprintf(text, size, "a whole number from %d to %d", o->min, o->max);
        break;
    case CL_POW2:
        snprintf(text, size, "a power of two from %d to %d", o->min, o->max);
        break;
    case CL_FLOAT:
        snprintf(text, size, "a finite number");
        break;
    case CL_SEED:
        snprintf(text, size, "a whole number from 0 to 2^64 - 1");
        break;
    case CL_FLAG:
        snprintf(text, size, "no value");
        break;
    case CL_CHOICE:
        text[0] = '\0';
        for (int i = 0; o->choices[i]; i++) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", i == 0 ? "" : o->choices[i + 1] ? ", " : " or ", o->choices[i]);
        }
        break;
    }
}

static inline void cl_default(const struct cl_option *o, char *text, size_t size) {
    switch (o->kind) {
    case CL_INT:
    case CL_POW2:
        snprintf(text, size, "%d", *(const int *)o->value);
        break;
    case CL_FLAG:
        snprintf(text, size, "off");
        break;
    case CL_FLOAT:
        snprintf(text, size, "%g", (double)*(const float *)o->value);
        break;
    case CL_SEED:
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)o->value);
        break;
    case CL_CHOICE:
        snprintf(text, size, "%s", o->choices[*(const int *)o->value]);
        break;
    }
}

static inline void cl_help(const char *program, const char *purpose, const struct cl_option *options, int count) {
    printf("%s - %s\n\n", program, purpose);
    for (int i = 0; i < count; i++) {
        char allowed[160], preset[64];
        cl_allowed(&options[i], allowed, sizeof allowed);
        cl_default(&options[i], preset, sizeof preset);
        printf("  --%-9s %s: %s (default %s)\n", options[i].name, options[i].help, allowed, preset);
    }
    printf("  --%-9s this text\n", "help");
}

/* Stores the value in the option's variable. Returns 0 if it is not allowed. */
static inline int cl_store(const struct cl_option *o, const char *text) {
    char *end;
    errno = 0;
    if (o->kind == CL_CHOICE) {
        for (int i = 0; o->choices[i]; i++)
            if (!strcmp(text, o->choices[i])) {
                *(int *)o->value = i;
                return 1;
            }
        return 0;
    }
    if (o->kind == CL_FLOAT) {
        float x = strtof(text, &end);
        if (end == text || *end || !isfinite(x))
            return 0;
        *(float *)o->value = x;
        return 1;
    }
    if (o->kind == CL_SEED) {
        unsigned long long x = strtoull(text, &end, 0);
        if (end == text || *end || errno || strchr(text, '-'))
            return 0;
        *(uint64_t *)o->value = x;
        return 1;
    }
    if (o->kind == CL_FLAG)
        return 0;
    long x = strtol(text, &end, 10);
    if (end == text || *end || errno || x < o->min || x > o->max)
        return 0;
    if (o->kind == CL_POW2 ? (x & (x - 1)) != 0 : o->step > 1 && x % o->step != 0)
        return 0;
    *(int *)o->value = (int)x;
    return 1;
}

/* The option that `word` (after the dashes, up to '=' or the end) names, or NULL. */
static inline const struct cl_option *cl_find(const struct cl_option *options, int count, const char *word) {
    size_t length = strcspn(word, "=");
    for (int i = 0; i < count; i++)
        if (strlen(options[i].name) == length && !strncmp(options[i].name, word, length))
            return &options[i];
    return NULL;
}

/* The exit code of a step after its last output: `code`. But if stdout did not take all of it, for example on a full
 * disk: 1, and a line on stderr. */
static inline int cmdline_end(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "what is printed is not all there: stdout cannot be written\n");
    return 1;
}

/* Reads the command line into the options' variables. purpose: what the program does, for --help. */
static inline void cmdline_parse(int argc, char **argv, const char *purpose, const struct cl_option *options,
                                 int count) {
    const char *slash = strrchr(argv[0], '/'), *program = slash ? slash + 1 : argv[0];
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            cl_help(program, purpose, options, count);
            exit(cmdline_end(0));
        }
        const struct cl_option *o = strncmp(word, "--", 2) ? NULL : cl_find(options, count, word + 2);
        if (!o) {
            fprintf(stderr, "%s: %s is not an option; --help lists them\n", program, word);
            exit(2);
        }
        value = strchr(word, '=');
        if (o->kind == CL_FLAG && !value) {
            *(int *)o->value = 1;
            continue;
        }
        value = value ? value + 1 : i + 1 < argc ? argv[++i] : "";
        if (!cl_store(o, value)) {
            char allowed[160];
            cl_allowed(o, allowed, sizeof allowed);
            if (*value)
                fprintf(stderr, "%s: --%s takes %s, not '%s'\n", program, o->name, allowed, value);
            else
                fprintf(stderr, "%s: --%s needs a value: %s\n", program, o->name, allowed);
            exit(2);
        }
    }
}

#endif
