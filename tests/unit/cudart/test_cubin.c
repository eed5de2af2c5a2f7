/* The register counts of a cubin, from a small one made here; and no byte read outside whatever it is cut to. */
#include "cudart/loader/cubin.h"
#include "tests/check.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES, SYMBOLS, INFO, SECTIONS };
static const char strings[] = "\0.nv.info\0kernel\0helper";
static const uint8_t info[] = {4, 0x11, 4,    0, 9, 9, 9, 9,                /* another attribute */
                               4, 0x2f, 8,    0, 1, 0, 0, 0, 24,  0, 0, 0,  /* symbol 1: 24 */
                               3, 0x1b, 0xff, 0,                            /* its value is in its head */
                               4, 0x2f, 8,    0, 2, 0, 0, 0, 168, 0, 0, 0,  /* symbol 2: 168 */
                               4, 0x2f, 8,    0, 7, 0, 0, 0, 10,  0, 0, 0,  /* no such symbol */
                               4, 0x2f, 8,    0, 1, 0, 0, 0, 0,   1, 0, 0}; /* 256 registers do not exist */

struct image {
    Elf64_Ehdr head;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[3];
    char strings[sizeof strings];
    uint8_t info[sizeof info];
};

static struct image make(void) {
    struct image m;
    memset(&m, 0, sizeof m);
    memcpy(m.head.e_ident, ELFMAG, SELFMAG);
    m.head.e_ident[EI_CLASS] = ELFCLASS64;
    m.head.e_shoff = offsetof(struct image, sections);
    m.head.e_shentsize = sizeof(Elf64_Shdr);
    m.head.e_shnum = SECTIONS;
    m.head.e_shstrndx = NAMES;
    m.sections[NAMES] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, strings), .sh_size = sizeof strings};
    m.sections[SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                       .sh_offset = offsetof(struct image, symbols),
                                       .sh_size = sizeof m.symbols,
                                       .sh_link = NAMES};
    m.sections[INFO] = (Elf64_Shdr){.sh_name = 1, .sh_offset = offsetof(struct image, info), .sh_size = sizeof info};
    m.symbols[1].st_name = 10;
    m.symbols[2].st_name = 17;
    memcpy(m.strings, strings, sizeof strings);
    memcpy(m.info, info, sizeof info);
    return m;
}

struct seen {
    unsigned calls, kernel, helper;
};

static void note(void *ctx, const char *name, uint32_t registers) {
    struct seen *s = ctx;
    s->calls++;
    if (!strcmp(name, "kernel"))
        s->kernel = registers;
    if (!strcmp(name, "helper"))
        s->helper = registers;
}

int main(void) {
    struct image m = make();
    struct seen s = {0, 0, 0};
    cubin_registers((const uint8_t *)&m, sizeof m, note, &s);
    CHECK_EQ(s.calls, 2);
    CHECK_EQ(s.kernel, 24);
    CHECK_EQ(s.helper, 168);

    const size_t whole = offsetof(struct image, info) + sizeof info;
    for (size_t n = 0; n < whole; n++) { /* in memory of just that size: a sanitizer sees any byte too many */
        uint8_t *cut = malloc(n ? n : 1);
        memcpy(cut, &m, n);
        s = (struct seen){0, 0, 0};
        cubin_registers(cut, n, note, &s);
        CHECK(s.calls == 0);
        free(cut);
    }
    m.sections[INFO].sh_size = UINT64_MAX;
    s = (struct seen){0, 0, 0};
    cubin_registers((const uint8_t *)&m, sizeof m, note, &s);
    CHECK_EQ(s.calls, 0);
    m = make();
    m.head.e_shoff = UINT64_MAX - 16;
    cubin_registers((const uint8_t *)&m, sizeof m, note, &s);
    CHECK_EQ(s.calls, 0);
    return check_report();
}
