/* report/excerpt.c - a line of a source file; contract in excerpt.h. */
#include "report/excerpt.h"

#include "base/source.h"

#include <string.h>
#include <unistd.h>

#define READ_MOST (64u << 20)

/* A file that is read in order. */
struct reader {
    int fd;
    uint32_t total; /* bytes read so far */
    size_t at, len;
    unsigned char bytes[4096];
};

/* The next byte; -1 at the end, or past what is read at most. */
static int next_byte(struct reader *r) {
    if (r->at == r->len) {
        const ssize_t n = r->total < READ_MOST ? read(r->fd, r->bytes, sizeof r->bytes) : 0;
        if (n <= 0)
            return -1;
        r->len = (size_t)n;
        r->at = 0;
        r->total += (uint32_t)n;
    }
    return r->bytes[r->at++];
}

/* Steps over the lines before `line`. */
static bool skip_to(struct reader *r, uint32_t line) {
    while (line > 1) {
        const int c = next_byte(r);
        if (c < 0)
            return false;
        line -= c == '\n';
    }
    return true;
}

static bool take_line(struct reader *r, char text[EXCERPT_BYTES]) {
    size_t n = 0;
    int c = next_byte(r);
    if (c < 0)
        return false;
    for (; c >= 0 && c != '\n' && c != '\r'; c = next_byte(r)) {
        if (n == EXCERPT_BYTES - 1) {
            for (n -= 3; n && ((unsigned char)text[n] & 0xc0) == 0x80;) /* not within a character of UTF-8 */
                n--;
            memcpy(text + n, "...", 3);
            n += 3;
            break;
        }
        text[n++] = (char)(c == 0 ? '?' : c);
    }
    if (!source_plain(text, n))
        return false;
    while (n && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
    return n != 0;
}

bool excerpt_read(const char *path, uint32_t line, uint32_t column, char text[EXCERPT_BYTES], uint32_t *mark) {
    struct reader r = {.fd = source_open(path)};
    if (r.fd < 0)
        return false;
    const bool found = line && skip_to(&r, line) && take_line(&r, text);
    close(r.fd);
    if (found)
        *mark = (uint32_t)(column && column <= strlen(text) ? column - 1 : strspn(text, " "));
    return found;
}
