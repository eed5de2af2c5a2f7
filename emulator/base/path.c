/* base/path.c - contract in path.h. */
#include "base/path.h"

#include <stdio.h>
#include <unistd.h>

void path_of_option(const char *path, char *out, size_t size) {
    size_t n = 0;
    for (; *path && n < size - 1; path++) {
        if (path[0] == '%' && path[1] == 'p') {
            n += (size_t)snprintf(out + n, size - n, "%ld", (long)getpid());
            n = n < size ? n : size - 1;
            path++;
        } else {
            out[n++] = *path;
        }
    }
    out[n] = '\0';
}
