/* report/excerpt.h - a line of a source file, for a report. */
#ifndef REPORT_EXCERPT_H
#define REPORT_EXCERPT_H

#include <stdbool.h>
#include <stdint.h>

#define EXCERPT_BYTES 160 /* of a line that are shown, the NUL with them */

/* Line `line` of the file at `path`: blanks for tabs, '?' for what cannot be printed, cut with "..." where it is too
 * long. *mark is how far in `column` stands (1 is the first); the first character that is no blank, where that is 0 or
 * not shown. False where there is no such line: a report does without. Which files are read: source_open of
 * base/source.h; and no more of one than 64 MiB. */
bool excerpt_read(const char *path, uint32_t line, uint32_t column, char text[EXCERPT_BYTES], uint32_t *mark);

#endif
