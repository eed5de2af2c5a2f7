/* The PTX that a cubin carries, and its source lines, from one made here; and no byte read outside whatever it is cut
 * to, nor any harm from bytes that are wrong. */
#include "base/heap.h"
#include "cudart/loader/cubin.h"
#include "tests/check.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* A zero byte ends each line; line 4 was .loc, 7 a comment, 9 .loc, 12 .loc. */
#define TEXT                                                                                                           \
    ".version 8.8\0.target sm_100a\0.visible .entry k(){\0\0mov.b32 %r1, 1;\0add.s32 %r2, %r1, 1;\0\0"                 \
    "st.shared.b32 [%r1], %r2;\0\0bar.sync 0;\0call f,\0\0(p);\0ret;\0}\0"

/* Line programs (DWARF 2): a head as ptxas writes it, names, then opcodes. */
#define HEAD(length, header) length, 0, 0, 0, 2, 0, header, 0, 0, 0, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1
#define NAMES '/', 'd', 0, 0, 'k', '.', 'p', 'y', 0, 1, 0, 0, 0
#define ADDRESS 0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0
#define LINE(by) 3, (by)&0x7f
#define PC(by) 2, by
#define COPY 1
#define END 0, 1, 1

/* Addresses 0x00 to lines 40, 0x20 to 41, 0x30 to 42; of the PTX 0x00 to 5, 0x10 to 8, 0x20 to 10, 0x30 to 14. */
static const uint8_t source[] = {HEAD(66, 32), NAMES,  ADDRESS, LINE(39), COPY, PC(32), LINE(1), COPY, PC(16), LINE(1),
                                 COPY,         PC(16), END,     0,        0,    0,      0,       0,    0,      0};
static const uint8_t ptx[] = {HEAD(63, 21), 0,       0,    ADDRESS, LINE(4), COPY, PC(16), LINE(3), COPY,
                              PC(16),       LINE(2), COPY, PC(16),  LINE(4), COPY, PC(16), END};

static const uint8_t empty[] = {HEAD(0, 0), 0, 'k', 0, 0, 0, 0, 0};

enum { NAME_TABLE, PTX_TEXT, SOURCE, PTX_LINES, RELA_SOURCE, RELA_PTX, SECTIONS };
static const char *const names[SECTIONS] = {".shstrtab",           ".nv_debug_ptx_txt", ".debug_line",
                                            ".nv_debug_line_sass", ".rela.debug_line",  ".rela.nv_debug_line_sass"};

struct image {
    uint8_t bytes[4096];
    size_t size;
    Elf64_Shdr sections[SECTIONS];
};

static void put(struct image *m, int section, const void *bytes, size_t n) {
    m->sections[section].sh_offset = m->size;
    m->sections[section].sh_size = n;
    memcpy(m->bytes + m->size, bytes, n);
    m->size += (n + 7) / 8 * 8;
}

/* A program of `length` bytes after the first four; the place of the address is behind the head. */
static void put_program(struct image *m, int section, const uint8_t *bytes, size_t n, size_t address) {
    uint8_t copy[128];
    memcpy(copy, bytes, n);
    copy[0] = (uint8_t)(n - 4);
    copy[6] = (uint8_t)(address - 3 - 10);
    put(m, section, copy, n);
    const Elf64_Rela r[] = {{.r_offset = address + 64, .r_info = ELF64_R_INFO(9, 0)}, /* in no order */
                            {.r_offset = address, .r_info = ELF64_R_INFO(7, 0)},
                            {.r_offset = address - 8, .r_info = ELF64_R_INFO(8, 0)}};
    put(m, section + 2, r, sizeof r);
}

static struct image make(bool rows) {
    struct image m = {.size = sizeof(Elf64_Ehdr)};
    char table[128] = "";
    size_t at = 1;
    for (int i = 0; i < SECTIONS; i++) {
        m.sections[i].sh_name = (uint32_t)at;
        memcpy(table + at, names[i], strlen(names[i]) + 1);
        at += strlen(names[i]) + 1;
    }
    put(&m, NAME_TABLE, table, at);
    put(&m, PTX_TEXT, TEXT, sizeof TEXT - 1);
    if (rows) {
        put_program(&m, SOURCE, source, sizeof source - 7, 24 + 13 + 3);
        put_program(&m, PTX_LINES, ptx, sizeof ptx, 24 + 2 + 3);
    } else {
        put_program(&m, SOURCE, empty, sizeof empty, sizeof empty + 3);
        put_program(&m, PTX_LINES, empty, sizeof empty, sizeof empty + 3);
    }
    Elf64_Ehdr head = {.e_shoff = m.size, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(m.bytes, &head, sizeof head);
    memcpy(m.bytes + m.size, m.sections, sizeof m.sections);
    m.size += sizeof m.sections;
    return m;
}

/* .loc stands where it may have been, and where the line becomes another one: not before the comment's run, not inside
 * the call, and line 0 where nothing tells. */
static void check_lines(const struct image *m, const char *file) {
    size_t len = 0;
    char *text = cubin_ptx(m->bytes, m->size, &len);
    if (CHECK(text != NULL)) {
        const char lines[] = ".version 8.8\n.target sm_100a\n.visible .entry k(){\n.loc 1 40 0\nmov.b32 %r1, 1;\n"
                             "add.s32 %r2, %r1, 1;\n\nst.shared.b32 [%r1], %r2;\n.loc 1 41 0\nbar.sync 0;\n"
                             "call f,\n\n(p);\nret;\n}\n\n.file 1 ";
        CHECK(strncmp(text, lines, sizeof lines - 1) == 0);
        CHECK_STR(text + sizeof lines - 1, file);
        CHECK_EQ(len, strlen(text));
    }
    xfree(text);
}

/* A name that PTX cannot hold does not become more than a name. */
static void check_names(struct image m) {
    uint8_t *name = m.bytes + m.sections[SOURCE].sh_offset + 24 + 4;
    CHECK_EQ(memcmp(name, "k.py", 5), 0);
    memcpy(name, "k\"\n\x7f", 4);
    check_lines(&m, "\"/d/k???\"");
}

/* Tables without a row. */
static void check_empty(void) {
    const struct image m = make(false);
    size_t len = 0;
    char *text = cubin_ptx(m.bytes, m.size, &len);
    CHECK(text != NULL && strstr(text, ".loc") == NULL && strstr(text, "\n.file 1 \"k\"") != NULL);
    xfree(text);
}

/* 16 bytes are an instruction: one of each line that has a row. */
static void check_counts(struct image m) {
    uint32_t counts[14] = {0}, none[14] = {0};
    CHECK(cubin_count(m.bytes, m.size, counts, 14));
    for (uint32_t i = 0; i < 14; i++)
        CHECK_EQ(counts[i], i == 5 || i == 8 || i == 10);
    m.bytes[m.sections[PTX_LINES].sh_offset + 4] = 5;
    CHECK(!cubin_count(m.bytes, m.size, none, 14));
    const struct image empty_tables = make(false);
    CHECK(!cubin_count(empty_tables.bytes, empty_tables.size, none, 14));
}

/* Without tables, or with one that is malformed, the text is as it was. */
static void check_plain(struct image m, int section) {
    size_t len = 0;
    if (section >= 0)
        m.bytes[m.sections[section].sh_offset + 4] = 5; /* a later DWARF */
    char *text = cubin_ptx(m.bytes, m.size, &len);
    if (CHECK(text != NULL)) {
        CHECK_EQ(len, sizeof TEXT - 1);
        CHECK(strstr(text, ".loc") == NULL && strncmp(text, ".version 8.8\n.target", 20) == 0);
    }
    xfree(text);
}

int main(void) {
    struct image m = make(true);
    size_t len;
    CHECK_EQ(cubin_size(m.bytes, sizeof m.bytes), m.size);
    CHECK_EQ(cubin_size(m.bytes, m.size - 1), 0);
    check_lines(&m, "\"/d/k.py\"");
    check_names(m);
    check_empty();
    check_counts(m);
    check_plain(m, SOURCE);
    check_plain(m, PTX_LINES);
    uint32_t counts[64] = {0};
    for (size_t n = 0; n < m.size; n++) { /* in memory of just that size: a sanitizer sees any byte too many */
        uint8_t *cut = malloc(n ? n : 1);
        memcpy(cut, m.bytes, n);
        CHECK_EQ(cubin_size(cut, n), 0);
        xfree(cubin_ptx(cut, n, &len));
        cubin_count(cut, n, counts, 64);
        free(cut);
    }
    uint8_t *whole = malloc(m.size);
    for (size_t at = 0; at < m.size; at++) /* each byte wrong, and so each length, count, opcode and offset */
        for (unsigned value = 0; value < 256; value += 17) {
            memcpy(whole, m.bytes, m.size);
            whole[at] = (uint8_t)value;
            xfree(cubin_ptx(whole, m.size, &len));
            cubin_count(whole, m.size, counts, 64);
        }
    free(whole);
    m.bytes[m.sections[PTX_TEXT].sh_offset - 1] = 1;
    memset(m.bytes + m.sections[NAME_TABLE].sh_offset + m.sections[PTX_TEXT].sh_name, 'x', 4);
    CHECK(cubin_ptx(m.bytes, m.size, &len) == NULL); /* a cubin without it */
    return check_report();
}
