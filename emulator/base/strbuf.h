/* base/strbuf.h - a text that is put together in the caller's buffer, and cut when that is full. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

struct strbuf {
    char *s;
    size_t size, len;
};

/* Empties buf, of `size` bytes, at least 1. */
static inline struct strbuf strbuf_in(char *buf, size_t size) {
    buf[0] = 0;
    return (struct strbuf){buf, size, 0};
}

static inline void strbuf_vput(struct strbuf *w, const char *format, va_list args) {
    const int n = vsnprintf(w->s + w->len, w->size - w->len, format, args);
    w->len = n < 0 || (size_t)n >= w->size - w->len ? w->size - 1 : w->len + (size_t)n;
}

__attribute__((format(printf, 2, 3))) static inline void strbuf_put(struct strbuf *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    strbuf_vput(w, format, args);
    va_end(args);
}

/* "1 byte", "2 bytes" */
static inline void strbuf_count(struct strbuf *w, uint64_t n, const char *thing) {
    strbuf_put(w, "%llu %s%s", (unsigned long long)n, thing, n == 1 ? "" : "s");
}

/* The numbers of the bits that are set: "0,2,4-7" */
static inline void strbuf_bits(struct strbuf *w, uint32_t bits) {
    const char *comma = "";
    for (uint32_t i = 0, end; i < 32; i = end + 1) {
        for (end = i; end < 32 && bits >> end & 1; end++)
            ;
        if (end == i)
            continue;
        strbuf_put(w, end == i + 1 ? "%s%u" : end == i + 2 ? "%s%u,%u" : "%s%u-%u", comma, i, end - 1);
        comma = ",";
    }
}

#endif
