/* Reader of NVIDIA fat binaries, as nvcc 12.9 and 13 embed them in a program.
 *
 * Contract: every function here works on plain bytes, keeps no state and touches no GPU state. All fields are
 * untrusted: nothing outside [bytes, bytes + limit) is read and no count or size is believed before it is checked.
 * The layout is not published by NVIDIA; it was read off images made by nvcc 12.9 and 13.0 in every compression
 * mode (--no-compress, --compress-mode=size|speed|balance) and with several -gencode options.
 *
 *   container  u32 magic 0xBA55ED50, u16 version 1, u16 header bytes (16), u64 bytes of all entries
 *   entry      u16 kind (1 PTX, 2 ELF), u16 version, u32 header bytes, u64 payload bytes (padded to 8),
 *              u32 compressed bytes, u32 offset of the options, u16 PTX minor, u16 PTX major, u32 SM number,
 *              u32 name offset, u32 name bytes, u64 flags, u64 0, u64 uncompressed bytes, ...
 */
#ifndef CUDART_LOADER_FATBIN_H
#define CUDART_LOADER_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_MAGIC 0xBA55ED50u
#define FATBIN_WRAPPER_MAGIC 0x466243B1u
/* A PTX text larger than this is refused before anything is allocated for it. */
#define FATBIN_MAX_TEXT ((size_t)256 << 20)

/* What a program's .nvFatBinSegment section holds, one for each registered binary (fatbinary_section.h). Version 2
 * belongs to relocatable device code: `extra` is then a null-terminated array of containers to link. */
struct fatbin_wrapper {
    uint32_t magic;
    uint32_t version;
    const void *data;
    const void *extra;
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };
enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

/* One entry of a container. Pointers lead into the caller's bytes. */
struct fatbin_image {
    enum fatbin_kind kind; /* other kinds are passed over by fatbin_next */
    unsigned sm;           /* 100 for sm_100, sm_100a and sm_100f alike: only the text's .target tells them apart */
    unsigned ptx_major, ptx_minor;
    uint64_t flags;
    enum fatbin_packing packing;
    const uint8_t *payload;
    size_t stored;    /* bytes of payload that count, without padding where that is known */
    size_t plain;     /* bytes after unpacking (equals stored when packing is FATBIN_PLAIN) */
    const char *name; /* source file's name, not terminated; NULL when absent */
    size_t name_len;
};

/* A place in a container, for fatbin_next. */
struct fatbin_reader {
    const uint8_t *at, *end;
};

/* One sentence about what is wrong, without a final newline. */
struct fatbin_error {
    char text[320];
    bool no_memory; /* it is the host's memory, not the container */
};

/* What a PTX text may be to an sm_100 device, from its `.target` (PTX ISA 11.1.2), worst to best. */
enum fatbin_fit {
    FATBIN_FIT_NONE,    /* another chip's: sm_103a, sm_90a, sm_120, ... */
    FATBIN_FIT_GENERIC, /* sm_100, sm_90, ...: runs, but its instructions are those of all chips since: no tcgen05 */
    FATBIN_FIT_FAMILY,  /* sm_100f: sm_100 and sm_103 alike */
    FATBIN_FIT_ARCH,    /* sm_100a */
};

/* The image that an sm_100 device should run. */
struct fatbin_choice {
    char *text; /* zero-terminated PTX, owned by the caller (xfree) */
    size_t len;
    enum fatbin_fit fit;
    char target[24]; /* "sm_100f" */
};

/* Opens the container at `bytes`, of which at most `limit` bytes may be read.
 * Returns 0, or -1 with a reason. On success *total (if not NULL) is the container's length in bytes. */
int fatbin_open(struct fatbin_reader *r, const void *bytes, size_t limit, size_t *total, struct fatbin_error *err);

/* Next PTX or ELF image. Returns 1 with *image filled, 0 at the end, -1 with a reason. */
int fatbin_next(struct fatbin_reader *r, struct fatbin_image *image, struct fatbin_error *err);

/* The first machine code for sm_100, sm_100a or sm_100f of the container at `bytes`, unpacked (owned by the caller,
 * xfree); NULL, with a reason, when it cannot be read or there is none. */
uint8_t *fatbin_code(const void *bytes, size_t limit, size_t *len, struct fatbin_error *err);

/* The `.version` that a PTX text begins with, 87 for 8.7; 0: it does not, and is no PTX. */
unsigned fatbin_ptx_version(const char *text, size_t len);
/* Reads the first `.target` of a PTX text into target (e.g. "sm_100f", "" when there is none) and judges it. */
enum fatbin_fit fatbin_target(const char *text, size_t len, char *target, size_t target_size);

/* Chooses the PTX that an sm_100 device should run among all images of the container at `bytes`: sm_100a, else
 * sm_100f, else the newest generic one not newer than sm_100. Where there is no PTX, it is what the machine code for
 * sm_100 carries (cubin_ptx). Returns 0, or -1 with a reason that names what is
 * there instead and the build flag that mends it. */
int fatbin_choose(const void *bytes, size_t limit, struct fatbin_choice *choice, struct fatbin_error *err);

#endif
