/* trace/file.h - logs as files. A file holds the logs of a process's launches, one behind the other. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "trace/log.h"

#include <stdio.h>

/* Appends a log; false with errno when the file takes no more. */
bool trace_write(FILE *file, const struct trace_log *log);

/* Reads all logs of a file into *logs, to be freed one by one and then with xfree; how many. 0 when it is not one,
 * of another version, damaged or cut off: `why` says so in a sentence. What is read is checked: references lie inside
 * their tables, text ends in it. */
uint32_t trace_read(const char *path, struct trace_log ***logs, char *why, size_t size);

void trace_free(struct trace_log *log);

#endif
