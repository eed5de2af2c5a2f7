/* base/path.h - names of files that options give. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>

/* The name with "%p" replaced by the process's id. Cut to `size`. */
void path_of_option(const char *path, char *out, size_t size);

#endif
