/* cudart/loader/marked.h - what the stand-in for ptxas writes in a cubin's place: a mark, the PTX, and the cubin if
 * there is one, for its register counts. A front end hands it to cuModuleLoadData without a size, as a cubin, so the
 * mark has the sizes.
 */
#ifndef CUDART_LOADER_MARKED_H
#define CUDART_LOADER_MARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKED_MAGIC "SM100PTX"
#define MARKED_VERSION 1u
#define MARKED_MAX_CODE ((size_t)1 << 30) /* of machine code; of PTX FATBIN_MAX_TEXT */

/* The first bytes. The PTX is behind them, a zero byte behind that, and then the cubin. */
struct marked_head {
    char magic[8];
    uint32_t version;
    uint32_t head; /* bytes of this struct */
    uint64_t ptx, code;
};

struct marked {
    const char *ptx; /* in the image, zero-terminated */
    size_t ptx_len;
    const uint8_t *code;
    size_t code_len; /* 0: there is none */
};

/* Do the bytes begin with the mark? */
bool marked_is(const void *image, size_t limit);
/* Reads an image of which at most `limit` bytes may be read. False: the sizes are none that the stand-in writes. */
bool marked_read(const void *image, size_t limit, struct marked *out);

#endif
