/* Options of the driver's compiler and linker (CUjit_option, cudaJitOption) and of libraries (CUlibraryOption).
 *
 * There is no compilation: a PTX text is executed as it is. Most options tune one, or say how its result is kept, and
 * are checked and ignored. Those that would change what a program computes are refused by name. The log buffers are
 * served: what stderr is told of a text that cannot be loaded is also written to the buffer for errors.
 */
#ifndef CUDART_CORE_JIT_H
#define CUDART_CORE_JIT_H

#include <stdbool.h>
#include <stddef.h>

struct rt_context;

/* What a call was given: parallel arrays, as in cuModuleLoadDataEx and cuLibraryLoadData. */
struct rt_options {
    unsigned num_jit;
    const int *jit;
    void **jit_values;
    unsigned num; /* CUlibraryOption */
    const int *options;
    bool from_file;
};

/* One of the two logs. The program's buffer ends with a zero byte; *filled is the option's value, in which it finds how
 * many bytes were written. */
struct rt_log {
    char *text;
    size_t size, used;
    void **filled;
};

struct rt_jit {
    struct rt_log info, error;
};

/* Checks the options, and empties their logs. */
int rt_jit_open(struct rt_context *c, const struct rt_options *o, struct rt_jit *jit);
/* From here to rt_jit_pause the lines and reports of the call also go to `jit`'s log for errors. One at a time. */
void rt_jit_resume(struct rt_context *c, struct rt_jit *jit);
void rt_jit_pause(struct rt_context *c);
/* A line of the call, for the log that is open, if any. */
void rt_jit_line(struct rt_context *c, const char *line);

#endif
