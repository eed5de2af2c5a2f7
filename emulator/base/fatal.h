/* base/fatal.h - the two ends of the process that no finding is to blame for, and lines on stderr. */
#ifndef BASE_FATAL_H
#define BASE_FATAL_H

#include <stdarg.h>
#include <stddef.h>

/* The host gives no more of `what`, and no call can answer that. The process ends at once: its exit handlers may need
 * what this thread holds, or the memory that is not there. */
_Noreturn void fatal_host(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The emulator is wrong. Says so in one sentence and aborts; never called for anything that input can cause. */
_Noreturn void fatal_broken(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One line, "sm100emu: <who>: <sentence>". One that is too long is cut. */
void stderr_line(const char *who, const char *fmt, va_list ap);

/* Writes all of it, in one piece where the host takes it so; errno stays. */
void stderr_write(const char *text, size_t len);

#endif
