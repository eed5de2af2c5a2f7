/* report/record.c - contract in record.h. */
#include "report/record.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* False: the launcher has ended, or its /proc is not this process's. */
static bool append(const char *path, const char *const *fields, unsigned num) {
    char line[RECORD_LINE];
    size_t len = 0;
    for (unsigned i = 0; i < num; i++) {
        for (const char *c = fields[i]; *c && len < sizeof line - 1; c++)
            line[len++] = (unsigned char)*c < ' ' || *c == 0x7F ? ' ' : *c;
        if (len < sizeof line - 1)
            line[len++] = i + 1 < num ? '\t' : '\n';
    }
    line[len - 1] = '\n'; /* of one that was cut, too */
    const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    const bool ours = fd >= 0 && is_record(path, fd);
    const ssize_t lost = ours ? write(fd, line, len) : 0; /* of a full disk nobody hears: the report is on stderr */
    (void)lost;
    if (fd >= 0)
        close(fd);
    return !path || ours;
}

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
    const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    const bool ours = fd >= 0 && is_record(path, fd);
    for (ssize_t n; ours && (n = pread(record, block, sizeof block, at)) > 0; at += n) {
        const char *end = memrchr(block, '\n', (size_t)n);
        n = end ? end + 1 - block : n; /* whole lines */
        if (write(fd, block, (size_t)n) != n)
            break;
    }
    if (fd >= 0)
        close(fd);
    return !path || ours;
}
