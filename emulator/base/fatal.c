/* base/fatal.c - contract in fatal.h. */
#include "base/fatal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void stderr_write(const char *text, size_t len) {
    const int before = errno;
    while (len) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* nobody is listening; a report must not become a second error */
        text += n;
        len -= (size_t)n;
    }
    errno = before;
}

void stderr_line(const char *who, const char *fmt, va_list ap) {
    char text[4096];
    const size_t room = sizeof text - 1; /* for the newline */
    snprintf(text, room, "sm100emu: %s: ", who);
    size_t n = strlen(text);
    vsnprintf(text + n, room - n, fmt, ap);
    n = strlen(text);
    text[n] = '\n';
    stderr_write(text, n + 1);
}

_Noreturn void fatal_host(const char *what, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    stderr_line(what, fmt, ap);
    va_end(ap);
    if (ftrylockfile(stdout) == 0) /* else another thread is writing there, perhaps for ever */
        fflush(stdout);
    _exit(EXIT_FAILURE);
}

_Noreturn void fatal_broken(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    stderr_line("broken invariant, please report it", fmt, ap);
    va_end(ap);
    abort();
}
