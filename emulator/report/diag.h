/* report/diag.h - what the emulator tells people.
 *
 * Four kinds of error exist and each has one door:
 *   the user's kernel   -> diag_report()   source line, PTX line, thread, rule, section, usual cause
 *   the user's API call -> diag_api()      one line on stderr; the caller returns the error code
 *   a host that is full -> fatal_host()    one sentence, and the process ends with 1 (base/fatal.h)
 *   a broken invariant  -> fatal_broken()  one sentence and abort() (base/fatal.h)
 * Every report has a stable `id` (kebab-case) which tests match on.
 */
#ifndef REPORT_DIAG_H
#define REPORT_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A call that the compiler inlined: where it stands, and the call around it. NULL ends the chain. */
struct diag_inline {
    const char *file;
    uint32_t line, column; /* column 0: not known */
    const struct diag_inline *outer;
};

/* Where an instruction came from. Lives as long as the module that owns it. Any pointer may be NULL, any line 0. */
struct diag_site {
    const char *src_file;              /* CUDA source (.file/.loc, present with -lineinfo) */
    uint32_t src_line, src_column;     /* column 0: not known */
    const struct diag_inline *inlined; /* the call that brought it into `func`; NULL: none, or not known */
    const char *ptx_name;              /* name of the PTX text, for example "02_simple_umma.sm_100f.ptx" */
    uint32_t ptx_line;                 /* 1-based line in that text */
    const char *ptx_text;              /* the instruction as written, whitespace folded, NUL-terminated */
    const char *func;                  /* function or kernel that holds it */
    uint32_t sass; /* machine instructions that ptxas made of it, plus 1; 0: not known (lower_set_counts) */
};

struct diag_dim3 {
    uint32_t x, y, z;
};

/* Which thread did it. warp == DIAG_NO_WARP: no thread (an engine or the end of the kernel). */
#define DIAG_NO_WARP UINT32_MAX
struct diag_thread {
    struct diag_dim3 cta;  /* %ctaid */
    uint32_t cluster_rank; /* %cluster_ctarank */
    uint32_t cluster_size; /* CTAs in the cluster; 1 hides the rank */
    uint32_t warp;         /* warp index in the CTA */
    uint32_t lanes;        /* the lanes concerned, bit per lane */
    struct diag_dim3 tid;  /* %tid of the lowest such lane */
};

/* What a finding says of the kernel, and so whether it stops there. */
enum diag_class {
    DIAG_ERROR,   /* hardware traps, or every allowed order is wrong */
    DIAG_WARNING, /* some allowed order changes a result */
    DIAG_STRICT,  /* the text forbids it, and no known chip or toolchain shows it, or well-kept kernels rely on it */
};

/* The earlier of two parties to a finding: of a race, the access that nothing orders before the one reported. */
struct diag_party {
    const char *what; /* "tcgen05.mma, operand A" */
    const struct diag_site *site;
    const struct diag_thread *thread;
};

/* One finding about a kernel. `id`, `rule`, `section` and `hint` are string constants (or outlive the call). */
struct diag {
    const char *id;      /* "tcgen05-alloc-columns" */
    const char *rule;    /* the rule in one sentence; NULL when the message says it all */
    const char *section; /* "PTX ISA 9.7.16.7.1" */
    const char *hint;    /* what usually causes it; NULL when nothing useful is known */
    const char *reason;  /* why it has its class; one definition of an id says it */
    int cuda_error;      /* what the launch returns: enum diag_cuda_error; 0: DIAG_CUDA_LAUNCH_FAILURE */
    enum diag_class class;
    bool warning; /* the kernel goes on */
    bool by_site; /* the fault is the site's alone: one report of it, whoever the other party is */
    const struct diag_site *site;
    const struct diag_thread *thread;
    const struct diag_party *other; /* NULL: there is one party */
    const char *after;              /* id of a warning that was told before and may be the cause; NULL: none */
};

/* A definition, or an array of them, and where it is. */
struct diag_entry {
    const struct diag *first;
    size_t num;
    const char *file;
    unsigned line;
};

/* Defines a diagnostic, or an array of them, beside the code that gives it:
 *
 *   DIAG(bad_columns) = {DIAG_HEAD(ERROR, "tcgen05-alloc-columns", "9.7.16.7.1"), .rule = ..., .hint = ...};
 *
 * The definition also joins the list of all: a section of pointers, which the linker puts together. */
#define DIAG(name) DIAG_DEFINE(name, name)
#define DIAG_ARRAY(name, num) DIAG_DEFINE(name, name[num])
#if defined(DIAG_LISTED_ELSEWHERE) /* a source that is compiled again */
#define DIAG_DEFINE(name, declared) static const struct diag declared
#else
#define DIAG_DEFINE(name, declared)                                                                                    \
    static const struct diag declared;                                                                                 \
    static const struct diag_entry name##_entry = {(const struct diag *)&name, sizeof name / sizeof(struct diag),      \
                                                   __FILE__, __LINE__};                                                \
    static const struct diag_entry *const name##_listed __attribute__((used, section("sm100emu_diags"))) =             \
        &name##_entry;                                                                                                 \
    static const struct diag declared
#endif

/* Its class, its id, and the sections of the PTX ISA that state the rule. */
#define DIAG_HEAD(of_class, of_id, sections) .class = DIAG_##of_class, .id = of_id, .section = "PTX ISA " sections
/* The same of an error, and what the launch returns: DIAG_FAULT(ILLEGAL_ADDRESS, "shared-out-of-bounds", "5.1.7"). */
#define DIAG_FAULT(cuda, of_id, sections) DIAG_HEAD(ERROR, of_id, sections), .cuda_error = DIAG_CUDA_##cuda

/* The cudaError_t values a kernel can end with (values of CUDA's driver_types.h). */
enum diag_cuda_error {
    DIAG_CUDA_INVALID_VALUE = 1,
    DIAG_CUDA_INVALID_PTX = 218,
    DIAG_CUDA_ILLEGAL_ADDRESS = 700,
    DIAG_CUDA_LAUNCH_TIMEOUT = 702,
    DIAG_CUDA_ASSERT = 710,
    DIAG_CUDA_ILLEGAL_INSTRUCTION = 715,
    DIAG_CUDA_MISALIGNED_ADDRESS = 716,
    DIAG_CUDA_LAUNCH_FAILURE = 719,
    DIAG_CUDA_NOT_SUPPORTED = 801,
};

/* The page that says more of each, under its id. */
#define DIAG_PAGE "docs/diagnostics.md"

/* Where reports go. `text` is the whole report, several lines, newline at the end. */
struct diag_sink {
    void (*write)(void *ctx, const char *text, size_t len);
    void *ctx;
};

/* "file:line" of the source, or of the PTX where the source is not known ("PTX:0" if `site` is NULL), then " (from
 * file:line, ...)" with the calls that were inlined around it. Of a wrapper of the toolkit's (__syncwarp) the line that
 * calls it is told, here as in reports. Cut to `size`. Returns buf. */
const char *diag_where(const struct diag_site *site, char *buf, size_t size);

/* The same, as short as a list wants it: the line of the kernel, then ", in file:line" where that calls a function of
 * another file. */
const char *diag_own(const struct diag_site *site, char *buf, size_t size);

/* The sink that writes to stderr in one write(2)-sized piece. */
struct diag_sink diag_stderr(void);

/* Formats and delivers one finding. `fmt` is the sentence that says what happened, with the figures of this case. */
void diag_report(const struct diag_sink *sink, const struct diag *d, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void diag_vreport(const struct diag_sink *sink, const struct diag *d, const char *fmt, va_list ap);

/* "note: 3 more of [id] at a.cu:57<when>, last by CTA (3,0,0) warp 2": findings like `d`, whose report was given. */
void diag_report_more(const struct diag_sink *sink, const struct diag *d, uint64_t more, const char *when,
                      const struct diag_thread *last);

/* What tells a bug from another: the id, and the lines of both parties with the calls inlined around them. */
uint64_t diag_key(const struct diag *d);
/* A copy with all that it points to, for as long as the arena lives. */
const struct diag *diag_keep(struct arena *a, const struct diag *d);

/* A path as reports show it: from the working directory where it lies below. Cut to `size`. Returns buf. */
const char *diag_path(const char *path, char *buf, size_t size);
/* A symbol as reports show it, "ns::foo<...>". Cut to `size`. Returns buf. */
const char *diag_function(const char *symbol, char *buf, size_t size);
/* "CTA (1,0,0) warp 2, lane 0 (thread (64,0,0))". Cut to `size`. Returns buf. */
const char *diag_who(const struct diag_thread *thread, char *buf, size_t size);

/* One line on stderr, "sm100emu: <call>: <sentence>". */
void diag_api(const char *call, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
