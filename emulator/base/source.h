/* base/source.h - lines of source files, and what they call things: for reports on what has no name in the program. */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_LINE 400 /* bytes of a line that are looked at, the NUL with them */

struct source_file;
/* Files that were read; zero-initialise. */
struct source_files {
    struct source_file *first;
    /* Seconds since 1970: a file that was changed later is not asked, since its lines are others. 0: any file is. */
    int64_t newest;
};

/* Opens a file of which lines are to be quoted: a descriptor, or -1. PTX names its files itself (.file, 11.5.3), and a
 * stranger's may name any that the user can read. So only a regular file is opened whose name ends as a source's does,
 * with all links followed, or which is below the folder that SOURCE_ROOT names. */
int source_open(const char *path);
/* The variable behind --source-root, which the log's viewer reads, too. */
#define SOURCE_ROOT "SM100EMU_SOURCE_ROOT"
/* Puts '?' for each control character in n bytes of UTF-8, and ' ' for tabs: a terminal obeys them. NULs stay. False if
 * the bytes are no UTF-8; a last character that is cut does not count. */
bool source_plain(char *text, size_t n);

/* Copies line `line` of a file that source_open opens; false where there is none, or no UTF-8 in it. A file of 8 MiB or
 * more is not read. */
bool source_line(struct source_files *files, const char *path, uint32_t line, char out[SOURCE_LINE]);
void source_free(struct source_files *files);
/* For `newest`: when this program was built. */
int64_t source_program_time(void);

/* An index as the source writes it: none, one that is to be worked out, or from 0 on its value. */
enum { SOURCE_WITHOUT_INDEX = -1, SOURCE_SOME_INDEX = -2 };

/* What the line initialises: the argument of a call whose name ends in `init`, or the object whose member of that name
 * it calls, without what is in front of it: "full" of init(&s->full[i], 1). False where that is not clear, or more
 * than one thing. *index may be NULL. */
bool source_initialises(const char *line, char *out, size_t size, int32_t *index);

/* The function that the line calls, not as an argument or in a condition: "load" of `if (ready(x)) load(y(z));`. False
 * where it calls none. */
bool source_calls(const char *line, char *out, size_t size);

/* The last member that the first argument of the line's call names, without an index: "answer" of
 * `ask(address(s->answer[i]), bar);`. False where that is not clear. */
bool source_argument(const char *line, char *out, size_t size);

/* The next word behind *at, of letters, digits and underscores, that is no number; NULL at the line's end or at what
 * ends its code. *at is set behind it. */
const char *source_word(const char **at, size_t *length);

/* The last name in a C++ symbol (_ZZ4kernvE3bar: "bar"), or the symbol. */
void source_symbol(const char *symbol, char *out, size_t size);

#endif
