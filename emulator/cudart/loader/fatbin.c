/* Fat-binary reader: containers, entries, unpacking, choice. Contract and layout in fatbin.h. */
#include "cudart/loader/fatbin.h"

#include "base/heap.h"
#include "cudart/loader/cubin.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTAINER_HEADER = 16,
    ENTRY_HEADER = 64, /* the shortest entry header that has every field used here */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    TARGET_SM = 100,
};

#define GENCODE_HINT "-gencode 'arch=compute_100f,code=[sm_100f,compute_100f]'"

__attribute__((format(printf, 2, 3))) static void say(struct fatbin_error *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    err->no_memory = false;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
}
#define fail(err, ...) (say(err, __VA_ARGS__), -1)

static uint64_t load(const uint8_t *p, unsigned bytes) {
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

int fatbin_open(struct fatbin_reader *r, const void *bytes, size_t limit, size_t *total, struct fatbin_error *err) {
    const uint8_t *p = bytes;
    if (p == NULL || limit < CONTAINER_HEADER)
        return fail(err, "fat binary: %zu bytes are too few for a container's header", p ? limit : 0);
    if (load(p, 4) != FATBIN_MAGIC)
        return fail(err, "fat binary: magic 0x%08x instead of 0x%08x", (unsigned)load(p, 4), FATBIN_MAGIC);
    uint64_t version = load(p + 4, 2), header = load(p + 6, 2), size = load(p + 8, 8);
    if (version != 1)
        return fail(err, "fat binary: container version %u is not known (1 is)", (unsigned)version);
    if (header < CONTAINER_HEADER || header > limit)
        return fail(err, "fat binary: container header of %u bytes", (unsigned)header);
    if (size > limit - header)
        return fail(err, "fat binary: the container claims %llu bytes where %zu are left", (unsigned long long)size,
                    limit - (size_t)header);
    r->at = p + header;
    r->end = r->at + size;
    if (total != NULL)
        *total = (size_t)(header + size);
    return 0;
}

/* The name is decoration: where its fields make no sense there is none. Version 2 of its place (offset 0x40 or
 * later) was seen; the text may start inside the header only. */
static void entry_name(struct fatbin_image *image, const uint8_t *entry, uint64_t header) {
    uint64_t offset = load(entry + 32, 4), len = load(entry + 36, 4);
    image->name = NULL;
    image->name_len = 0;
    if (len != 0 && offset >= ENTRY_HEADER && offset <= header && len <= header - offset) {
        image->name = (const char *)entry + offset;
        image->name_len = len;
    }
}

static int entry_sizes(struct fatbin_image *image, const uint8_t *entry, uint64_t payload, struct fatbin_error *err) {
    uint64_t packed = load(entry + 16, 4), plain = load(entry + 56, 8);
    image->packing = FATBIN_PLAIN;
    if (image->flags & FLAG_ZSTD)
        image->packing = FATBIN_ZSTD;
    else if (image->flags & FLAG_LZ4)
        image->packing = FATBIN_LZ4;
    image->stored = image->plain = (size_t)payload;
    if (image->packing == FATBIN_PLAIN)
        return 0;
    if (packed == 0 || packed > payload)
        return fail(err, "fat binary: an entry says %llu compressed bytes in a payload of %llu",
                    (unsigned long long)packed, (unsigned long long)payload);
    if (plain == 0 || plain > FATBIN_MAX_TEXT)
        return fail(err, "fat binary: an entry says %llu bytes uncompressed", (unsigned long long)plain);
    image->stored = (size_t)packed;
    image->plain = (size_t)plain;
    return 0;
}

int fatbin_next(struct fatbin_reader *r, struct fatbin_image *image, struct fatbin_error *err) {
    while (r->at < r->end) {
        size_t left = (size_t)(r->end - r->at);
        const uint8_t *entry = r->at;
        if (left < ENTRY_HEADER)
            return fail(err, "fat binary: %zu bytes left are too few for an entry", left);
        uint64_t kind = load(entry, 2), header = load(entry + 4, 4), payload = load(entry + 8, 8);
        if (header < ENTRY_HEADER || header > left)
            return fail(err, "fat binary: an entry has a header of %llu bytes where %zu are left",
                        (unsigned long long)header, left);
        if (payload > left - header)
            return fail(err, "fat binary: an entry has %llu bytes where %zu are left", (unsigned long long)payload,
                        left - (size_t)header);
        r->at = entry + header + payload;
        if (kind != FATBIN_PTX && kind != FATBIN_ELF)
            continue;
        image->kind = kind == FATBIN_PTX ? FATBIN_PTX : FATBIN_ELF;
        image->ptx_minor = (unsigned)load(entry + 24, 2);
        image->ptx_major = (unsigned)load(entry + 26, 2);
        image->sm = (unsigned)load(entry + 28, 4);
        image->flags = load(entry + 40, 8);
        image->payload = entry + header;
        entry_name(image, entry, header);
        return entry_sizes(image, entry, payload, err) < 0 ? -1 : 1;
    }
    return 0;
}

/* LZ4_decompress_safe (lz4.h) and ZSTD_decompress, ZSTD_isError (zstd.h): declared here, found by dlopen. */
typedef int lz4_decompress_fn(const char *src, char *dst, int src_size, int dst_size);
typedef size_t zstd_decompress_fn(void *dst, size_t dst_size, const void *src, size_t src_size);
typedef unsigned zstd_is_error_fn(size_t code);

/* Data pointers from dlsym become function pointers by a copy: ISO C has no cast for it. */
static int find(void *library, const char *name, void *out) {
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int unpack_lz4(const struct fatbin_image *image, char *out, struct fatbin_error *err) {
    lz4_decompress_fn *decompress;
    void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!find(library, "LZ4_decompress_safe", &decompress))
        return fail(err,
                    "the program's PTX is LZ4-compressed and the library cannot be opened (%s): install the package "
                    "liblz4-1 (Debian, Ubuntu) or lz4-libs (Fedora), or build with nvcc --no-compress",
                    dlerror());
    if (image->stored > 0x7FFFFFFF || image->plain > 0x7FFFFFFF)
        return fail(err, "fat binary: an LZ4 image of more than 2 GiB");
    int n = decompress((const char *)image->payload, out, (int)image->stored, (int)image->plain);
    if (n < 0 || (size_t)n != image->plain)
        return fail(err, "fat binary: the LZ4 data of an image is damaged");
    return 0;
}

static int unpack_zstd(const struct fatbin_image *image, char *out, struct fatbin_error *err) {
    zstd_decompress_fn *decompress;
    zstd_is_error_fn *is_error;
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!find(library, "ZSTD_decompress", &decompress) || !find(library, "ZSTD_isError", &is_error))
        return fail(err,
                    "the program's PTX is zstd-compressed and the library cannot be opened (%s): install the package "
                    "libzstd1 (Debian, Ubuntu) or libzstd (Fedora), or build with nvcc --no-compress",
                    dlerror());
    size_t n = decompress(out, image->plain, image->payload, image->stored);
    if (is_error(n) || n != image->plain)
        return fail(err, "fat binary: the zstd data of an image is damaged");
    return 0;
}

/* The image's bytes in fresh memory, with a zero behind them; NULL with a reason, which names the package to install
 * where a library is missing. LZ4 and zstd go through the system's libraries, opened when first needed. */
static char *unpack(const struct fatbin_image *image, struct fatbin_error *err) {
    if (image->plain > FATBIN_MAX_TEXT) {
        say(err, "fat binary: an image of %zu bytes", image->plain);
        return NULL;
    }
    char *out = try_calloc(image->plain + 1, 1);
    if (out == NULL) {
        say(err, "fat binary: the host has no memory for an image of %zu bytes", image->plain);
        err->no_memory = true;
        return NULL;
    }
    int status = 0;
    if (image->packing == FATBIN_LZ4)
        status = unpack_lz4(image, out, err);
    else if (image->packing == FATBIN_ZSTD)
        status = unpack_zstd(image, out, err);
    else
        memcpy(out, image->payload, image->plain);
    if (status < 0) {
        xfree(out);
        return NULL;
    }
    out[image->plain] = 0;
    return out;
}

uint8_t *fatbin_code(const void *bytes, size_t limit, size_t *len, struct fatbin_error *err) {
    struct fatbin_reader r;
    struct fatbin_image image;
    if (fatbin_open(&r, bytes, limit, NULL, err) < 0)
        return NULL;
    while (fatbin_next(&r, &image, err) == 1) {
        if (image.kind != FATBIN_ELF || image.sm != 100)
            continue;
        *len = image.plain;
        return (uint8_t *)unpack(&image, err);
    }
    say(err, "fat binary: no machine code for sm_100");
    return NULL;
}

/* Skips blanks and comments. Returns the new place, at most `end`. */
static const char *skip_blank(const char *p, const char *end) {
    while (p < end) {
        if (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') {
            p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
            p = close ? close + 2 : end;
        } else {
            break;
        }
    }
    return p;
}

static int is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* What `target` ("sm_100f") means on a device of compute capability 10.0 (PTX ISA 11.1.2: a suffix `a` binds a text
 * to one architecture, `f` to its family, none means this and every later chip). */
static enum fatbin_fit judge(const char *target) {
    if (strncmp(target, "sm_", 3) != 0 || target[3] < '1' || target[3] > '9')
        return FATBIN_FIT_NONE;
    char *suffix;
    unsigned long sm = strtoul(target + 3, &suffix, 10);
    if (*suffix == 0)
        return sm <= TARGET_SM ? FATBIN_FIT_GENERIC : FATBIN_FIT_NONE;
    if (sm != TARGET_SM || suffix[1] != 0)
        return FATBIN_FIT_NONE;
    if (*suffix == 'a')
        return FATBIN_FIT_ARCH;
    return *suffix == 'f' ? FATBIN_FIT_FAMILY : FATBIN_FIT_NONE;
}

enum fatbin_fit fatbin_target(const char *text, size_t len, char *target, size_t target_size) {
    const char *p = text, *end = text + len;
    target[0] = 0;
    /* .version and .target are a module's first directives (PTX ISA 11.1); give up at the first other word. */
    for (;;) {
        p = skip_blank(p, end);
        const char *word = p;
        if (p < end && *p == '.')
            p++;
        while (p < end && is_word(*p))
            p++;
        size_t n = (size_t)(p - word);
        int version = n == 8 && memcmp(word, ".version", 8) == 0;
        if (!version && !(n == 7 && memcmp(word, ".target", 7) == 0))
            return FATBIN_FIT_NONE;
        p = skip_blank(p, end);
        word = p;
        while (p < end && (is_word(*p) || (version && *p == '.')))
            p++;
        n = (size_t)(p - word);
        if (version)
            continue;
        if (n >= target_size)
            return FATBIN_FIT_NONE;
        memcpy(target, word, n);
        target[n] = 0;
        return judge(target);
    }
}

unsigned fatbin_ptx_version(const char *text, size_t len) {
    const char *const end = text + len, *p = skip_blank(text, end);
    char number[16] = "";
    unsigned major, minor;
    if (end - p < 8 || memcmp(p, ".version", 8) != 0)
        return 0;
    p = skip_blank(p + 8, end);
    for (size_t i = 0; i + 1 < sizeof number && p < end && (is_word(*p) || *p == '.'); i++)
        number[i] = *p++;
    return sscanf(number, "%3u.%1u", &major, &minor) == 2 ? 10 * major + minor : 0;
}

/* What fatbin_choose has seen so far, for its last word. */
struct survey {
    char seen[96]; /* targets of PTX that do not fit, as a list */
    unsigned ptx, elf;
    struct fatbin_error unpack; /* why the last unreadable image could not be read */
};

static void note_target(struct survey *s, const char *target) {
    size_t used = strlen(s->seen);
    if (strstr(s->seen, target) == NULL && used + strlen(target) + 3 < sizeof s->seen)
        snprintf(s->seen + used, sizeof s->seen - used, "%s%s", used ? ", " : "", target);
}

static unsigned generic_number(const char *target) { return (unsigned)strtoul(target + 3, NULL, 10); }

static void consider(const struct fatbin_image *image, struct fatbin_choice *best, struct survey *s) {
    struct fatbin_choice c = {0};
    s->ptx++;
    char *text = s->unpack.no_memory ? NULL : unpack(image, &s->unpack);
    if (text == NULL)
        return;
    c.len = strnlen(text, image->plain); /* payloads are padded with zeros */
    c.fit = fatbin_target(text, c.len, c.target, sizeof c.target);
    int better = c.fit > best->fit || (c.fit == FATBIN_FIT_GENERIC && best->fit == FATBIN_FIT_GENERIC &&
                                       generic_number(c.target) > generic_number(best->target));
    if (c.fit == FATBIN_FIT_NONE)
        note_target(s, c.target[0] ? c.target : "unknown");
    if (!better) {
        xfree(text);
        return;
    }
    xfree(best->text);
    *best = c;
    best->text = text;
}

/* Takes the PTX that the first machine code for sm_100 of the container was made of; false: there is none. */
static bool choose_from_code(const void *bytes, size_t limit, struct fatbin_choice *choice) {
    struct fatbin_error ignored;
    size_t size = 0;
    uint8_t *const code = fatbin_code(bytes, limit, &size, &ignored);
    if (code != NULL)
        choice->text = cubin_ptx(code, size, &choice->len);
    xfree(code);
    if (choice->text != NULL)
        choice->fit = fatbin_target(choice->text, choice->len, choice->target, sizeof choice->target);
    if (choice->fit != FATBIN_FIT_NONE)
        return true;
    xfree(choice->text);
    choice->text = NULL;
    return false;
}

int fatbin_choose(const void *bytes, size_t limit, struct fatbin_choice *choice, struct fatbin_error *err) {
    struct fatbin_reader r;
    struct fatbin_image image;
    struct survey s = {0};
    int more;
    memset(choice, 0, sizeof *choice);
    if (fatbin_open(&r, bytes, limit, NULL, err) < 0)
        return -1;
    while ((more = fatbin_next(&r, &image, err)) == 1) {
        if (image.kind == FATBIN_ELF)
            s.elf++;
        else
            consider(&image, choice, &s);
    }
    if (more == 0 && choice->fit != FATBIN_FIT_NONE && !s.unpack.no_memory)
        return 0;
    if (more == 0 && s.ptx == 0 && s.elf != 0 && choose_from_code(bytes, limit, choice))
        return 0;
    xfree(choice->text);
    memset(choice, 0, sizeof *choice);
    if (more < 0)
        return -1;
    if (s.unpack.no_memory || (s.unpack.text[0] != 0 && s.seen[0] == 0)) {
        *err = s.unpack;
        return -1;
    }
    if (s.ptx != 0)
        return fail(err,
                    "the program's PTX is for %s, which a device of compute capability 10.0 cannot run: "
                    "build with %s",
                    s.seen, GENCODE_HINT);
    return fail(err,
                "the program carries %s and no PTX, which the emulator needs: build with %s%s, or, the build as it is, "
                "with NVCC_APPEND_FLAGS='-gencode arch=compute_100a,code=compute_100a' in the environment",
                s.elf ? "only machine code (SASS)" : "no device code",
                s.elf ? "-lineinfo, by which the machine code for sm_100 keeps it, or with " : "", GENCODE_HINT);
}
