/* report/record.h - the record of a run: what each process of it found, in one file.
 *
 * A program starts others: a test runner its workers, a script an interpreter. All of them inherit RECORD_VARIABLE, the
 * path of a file that the launcher made, and append lines to it; the launcher reads it when the program has ended. A
 * path, because Python closes descriptors that a child need not have. A process with a /proc of its own (another PID
 * namespace) finds another thing there, or nothing; it has the file by the descriptor of the path's number, which the
 * launcher leaves open for its children. The file is opened for each line, since a program may close descriptors that
 * it does not know, and open others by their numbers. A line is one write(2), which O_APPEND makes whole: all that a
 * process had found stands there, even if it is killed. When the launcher reads the file, it seals it. Where the file
 * cannot be opened, or is sealed, the process says so once on stderr.
 *
 *   use \t PID \t COMMAND                                               it has a device
 *   found \t PID \t COMMAND \t TEST \t CLASS \t ID \t PLACE             one finding; TEST may be empty
 *   file \t PID \t FILE                                                 it writes that file, as others of the run may
 *
 * Fields hold no tab, no newline and no other control character. The reader trusts nothing of it.
 */
#ifndef REPORT_RECORD_H
#define REPORT_RECORD_H

#include <stdbool.h>
#include <stddef.h>

/* The variable that holds the path. */
#define RECORD_VARIABLE "SM100EMU_RECORD"
/* And that of the outermost launcher's: of one run, however many launchers are in it. */
#define RECORD_RUN_VARIABLE "SM100EMU_RUN"
/* The file's name where it is one in memory, /proc/PID/fd/N: the launcher may have ended, and its number may be that of
 * another process now. */
#define RECORD_NAME "sm100emu-record"
/* By which pytest names the test that runs, "file.py::test (call)": it changes while the process runs. */
#define RECORD_TEST "PYTEST_CURRENT_TEST"

#define RECORD_USE "use"
#define RECORD_FOUND "found"
#define RECORD_UNSEEN "unseen"
#define RECORD_FILE "file"
#define RECORD_FIELDS 7u
#define RECORD_LINE 2048u /* bytes of a line at most; what is longer is cut */

/* The process's name for people, its command line as far as it fits. Returns buf. */
const char *record_command(char *buf, size_t size);
/* The test that runs, without pytest's "(call)"; "" where none is known. Returns buf. */
const char *record_test(char *buf, size_t size);
/* For the launcher, before it reads the record: there are no more lines. */
void record_seal(int record);
/* Appends a line; `path` NULL: nothing. False where that cannot be, as RECORD_LOST says. */
#define RECORD_LOST "this process cannot report its findings to its launcher: exit code and summary lack them"
bool record_use(const char *path);
bool record_unseen(const char *path);
bool record_found(const char *path, const char *class, const char *id, const char *place);
/* Appends all of a record, that of a launcher inside another, to the one at `path`; NULL: nothing. */
bool record_hand_on(const char *path, int record);

/* Several processes of a run may write one file. record_lock waits for its turn with all of them; -1 where there is no
 * record, or `path` is NULL. record_turn, once a process and file: which of these processes it is, from 1 in the order
 * of their coming. */
int record_lock(const char *path);
unsigned record_turn(int lock, const char *file);
void record_unlock(int lock);

#endif
