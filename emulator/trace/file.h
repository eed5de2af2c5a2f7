/* trace/file.h - logs as files. A file holds the logs of a process's launches, one after the other. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "trace/log.h"

#include <stdio.h>

/* Appends a log. False with errno if the file takes no more. */
bool trace_write(FILE *file, const struct trace_log *log);

/* Reads all logs of a file into *logs; the caller frees each, then the array with xfree. Returns their number. 0: the
 * file is not a log, of another version, damaged or cut off; `why` says which in a sentence. The contents are checked:
 * references are inside their tables, and text ends inside it. */
uint32_t trace_read(const char *path, struct trace_log ***logs, char *why, size_t size);

void trace_free(struct trace_log *log);

#endif
