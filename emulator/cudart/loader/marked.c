/* cudart/loader/marked.c - contract in marked.h. */
#include "cudart/loader/marked.h"

#include "cudart/loader/fatbin.h"

#include <string.h>

bool marked_is(const void *image, size_t limit) {
    return strnlen(image, limit < 8 ? limit : 8) == 8 && memcmp(image, MARKED_MAGIC, 8) == 0;
}

bool marked_read(const void *image, size_t limit, struct marked *out) {
    struct marked_head h;
    if (!marked_is(image, limit) || limit < sizeof h)
        return false;
    memcpy(&h, image, sizeof h);
    if (h.version != MARKED_VERSION || h.head != sizeof h || h.ptx == 0 || h.ptx > FATBIN_MAX_TEXT ||
        h.code > MARKED_MAX_CODE || limit - sizeof h <= h.ptx || limit - sizeof h - h.ptx - 1 < h.code)
        return false;
    const char *ptx = (const char *)image + sizeof h;
    *out = (struct marked){ptx, h.ptx, (const uint8_t *)ptx + h.ptx + 1, h.code};
    return memchr(ptx, 0, h.ptx + 1) == ptx + h.ptx;
}
