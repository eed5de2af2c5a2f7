/* base/json.c - contract in json.h. */
#include "base/json.h"

#include <stdbool.h>

/* Bytes of the UTF-8 character at s, 0 where there is none (RFC 3629: no overlong form, no surrogate, none beyond
 * U+10FFFF). */
static unsigned utf8_length(const unsigned char *s) {
    const unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    for (unsigned i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    const bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                       (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    return wrong ? 0 : n;
}

void json_string(FILE *f, const char *text) {
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    fputc('"', f);
    while (*s) {
        const unsigned n = utf8_length(s);
        if (n == 0)
            fputs("\\ufffd", f);
        else if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if (*s < ' ' || *s == 0x7F)
            fprintf(f, "\\u%04x", *s);
        else
            fwrite(s, 1, n, f);
        s += n ? n : 1;
    }
    fputc('"', f);
}
