/* report/record.c - contract in record.h. */
#include "report/record.h"

#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMAND_SHOWN 120u
#define TEST_SHOWN 512u

static char *last_part(char *path) {
    char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *record_command(char *buf, size_t size) {
    char words[1024] = "";
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, words, sizeof words - 1) : -1;
    if (fd >= 0)
        close(fd);
    const char *first = last_part(words); /* the program's name without its folders, then its arguments */
    const size_t skipped = (size_t)(first - words), len = n > 0 ? (size_t)n : 0;
    for (size_t i = skipped; i + 1 < len; i++)
        if (words[i] == 0)
            words[i] = ' ';
    const bool cut = snprintf(buf, size, "%s", first) >= (int)size;
    if (cut && size > 4)
        memcpy(buf + size - 4, "...", 4);
    return buf;
}

const char *record_test(char *buf, size_t size) {
    const char *test = getenv(RECORD_TEST);
    snprintf(buf, size, "%s", test ? test : "");
    char *phase = strrchr(buf, ' ');
    if (phase && phase[1] == '(')
        *phase = 0;
    return buf;
}

/* In /proc the path may lead to anything, if the launcher has ended. */
static bool is_record(const char *path, int fd) {
    char link[40], to[sizeof RECORD_NAME + 16];
    struct stat st;
    if (strncmp(path, "/proc/", 6) != 0)
        return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, to, sizeof to - 1);
    to[n > 0 ? n : 0] = 0;
    return strncmp(to, "/memfd:" RECORD_NAME, sizeof "/memfd:" RECORD_NAME - 1) == 0;
}

/* By its path, else by the descriptor of that number, which was inherited; -1: by neither. */
static int open_record(const char *path, int flags) {
    const char *number = strrchr(path, '/');
    char inherited[64];
    snprintf(inherited, sizeof inherited, "/proc/self/fd/%s", number ? number + 1 : "");
    for (const char *name = path;; name = inherited) {
        const int fd = open(name, flags | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0 && is_record(name, fd))
            return fd;
        if (fd >= 0)
            close(fd);
        if (name == inherited || strncmp(path, "/proc/", 6) != 0)
            return -1;
    }
}

/* A control character would end a field, or the line. */
static char plain(char c) { return (unsigned char)c < ' ' || c == 0x7F ? ' ' : c; }

static bool append(const char *path, const char *const *fields, unsigned num) {
    char line[RECORD_LINE];
    size_t len = 0;
    for (unsigned i = 0; i < num; i++) {
        for (const char *c = fields[i]; *c && len < sizeof line - 1; c++)
            line[len++] = plain(*c);
        if (len < sizeof line - 1)
            line[len++] = i + 1 < num ? '\t' : '\n';
    }
    line[len - 1] = '\n'; /* of one that was cut, too */
    const int fd = path ? open_record(path, O_WRONLY) : -1;
    errno = 0;
    const bool sealed = fd >= 0 && write(fd, line, len) < 0 && errno == EPERM;
    if (fd >= 0)
        close(fd);
    return !path || (fd >= 0 && !sealed); /* of a full disk nobody hears: the report is on stderr */
}

void record_seal(int record) { fcntl(record, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SHRINK); }

static bool append_process(const char *path, const char *kind) {
    char pid[24], command[COMMAND_SHOWN];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    return append(path, (const char *const[]){kind, pid, record_command(command, sizeof command)}, 3);
}

bool record_use(const char *path) { return append_process(path, RECORD_USE); }

bool record_unseen(const char *path) { return append_process(path, RECORD_UNSEEN); }

bool record_found(const char *path, const char *class, const char *id, const char *place) {
    char pid[24], command[COMMAND_SHOWN], test[TEST_SHOWN];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    const char *const fields[RECORD_FIELDS] = {
        RECORD_FOUND, pid, record_command(command, sizeof command), record_test(test, sizeof test), class, id, place};
    return append(path, fields, RECORD_FIELDS);
}

bool record_hand_on(const char *path, int record) {
    char block[RECORD_LINE * 16];
    off_t at = 0;
    const int fd = path ? open_record(path, O_WRONLY) : -1;
    for (ssize_t n; fd >= 0 && (n = pread(record, block, sizeof block, at)) > 0; at += n) {
        const char *end = memrchr(block, '\n', (size_t)n);
        n = end ? end + 1 - block : n; /* whole lines */
        if (write(fd, block, (size_t)n) != n)
            break;
    }
    if (fd >= 0)
        close(fd);
    return !path || fd >= 0;
}

/* --- files of several processes ----------------------------------------------------------------------------------- */

int record_lock(const char *path) {
    const int fd = path && *path ? open_record(path, O_RDWR) : -1;
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
        ;
    return fd;
}

void record_unlock(int lock) {
    if (lock >= 0)
        close(lock);
}

/* Whether the line, "file PID FILE" with tabs, is of `file`. */
static bool is_of(const char *line, const char *end, const char *file) {
    static const char kind[] = RECORD_FILE "\t";
    if (end - line < (ptrdiff_t)sizeof kind || memcmp(line, kind, sizeof kind - 1) != 0)
        return false;
    const char *name = memchr(line + sizeof kind - 1, '\t', (size_t)(end - line) - (sizeof kind - 1));
    for (name = name ? name + 1 : end; name < end && *file && *name == plain(*file); name++)
        file++;
    return name == end && *file == 0;
}

unsigned record_turn(int lock, const char *file) {
    char line[RECORD_LINE];
    struct stat st;
    unsigned before = 0;
    const size_t size = fstat(lock, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
    char *text = xcalloc(size + 1, 1);
    const ssize_t n = pread(lock, text, size, 0);
    for (const char *at = text, *end; n > 0 && (end = memchr(at, '\n', (size_t)(text + n - at))) != NULL; at = end + 1)
        before += is_of(at, end, file);
    xfree(text);
    int len = snprintf(line, sizeof line, RECORD_FILE "\t%ld\t", (long)getpid());
    for (const char *c = file; *c && len < (int)sizeof line - 1; c++)
        line[len++] = plain(*c);
    line[len++] = '\n';
    const ssize_t lost = write(lock, line, (size_t)len);
    (void)lost;
    return before + 1;
}
