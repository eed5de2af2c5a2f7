/* Facts out of machine code; contract in cubin.h. */
#include "cudart/loader/cubin.h"

#include "base/heap.h"
#include "cudart/loader/cubin_lines.h"
#include "cudart/loader/elf.h"

#include <string.h>

#define NV_INFO_SVAL 4 /* attribute format: a value of `size` bytes follows */
#define NV_INFO_REGCOUNT 0x2f
#define MAX_REGISTERS 255u /* per thread (CUDA C++ Programming Guide, compute capability 10.0) */

/* The section of this name; with name NULL, the symbol table. */
static bool find(const struct elf_file *f, const char *name, Elf64_Shdr *out) {
    Elf64_Shdr names;
    if (!elf_section(f, f->header.e_shstrndx, &names))
        return false;
    for (unsigned i = 0; i < f->header.e_shnum && elf_section(f, i, out); i++) {
        if (!elf_holds(f, out->sh_offset, out->sh_size))
            continue;
        if (name ? strcmp(elf_name(f, &names, out->sh_name), name) == 0 : out->sh_type == SHT_SYMTAB)
            return true;
    }
    return false;
}

/* Whether these bytes are a cubin; the header is then in f. */
static bool open_cubin(struct elf_file *f) {
    return elf_get(f, 0, &f->header, sizeof f->header) && memcmp(f->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           f->header.e_ident[EI_CLASS] == ELFCLASS64 && f->header.e_shentsize == sizeof(Elf64_Shdr);
}

size_t cubin_size(const uint8_t *code, size_t limit) {
    struct elf_file f = {.bytes = code, .size = limit};
    uint64_t sections, segments;
    if (!open_cubin(&f) ||
        __builtin_add_overflow(f.header.e_shoff, (uint64_t)f.header.e_shnum * f.header.e_shentsize, &sections) ||
        __builtin_add_overflow(f.header.e_phoff, (uint64_t)f.header.e_phnum * f.header.e_phentsize, &segments))
        return 0;
    const uint64_t end = sections > segments ? sections : segments;
    return end <= limit ? end : 0;
}

/* A symbol's name, "" where it has none. */
static const char *symbol_name(const struct elf_file *f, const Elf64_Shdr *symbols, uint32_t index) {
    Elf64_Sym sym;
    Elf64_Shdr strings;
    if (index >= symbols->sh_size / sizeof sym || !elf_section(f, symbols->sh_link, &strings) ||
        !elf_entry(f, symbols->sh_offset, sizeof sym, index, &sym, sizeof sym))
        return "";
    return elf_string(f, strings.sh_offset, strings.sh_size, sym.st_name);
}

void cubin_registers(const uint8_t *code, size_t size, void (*fn)(void *ctx, const char *name, uint32_t registers),
                     void *ctx) {
    struct elf_file f = {.bytes = code, .size = size};
    Elf64_Shdr info, symbols;
    if (!open_cubin(&f) || !find(&f, ".nv.info", &info) || !find(&f, NULL, &symbols))
        return;
    for (uint64_t at = info.sh_offset, end = at + info.sh_size; end - at >= 4;) {
        uint8_t head[4];
        uint32_t value[2];
        memcpy(head, code + at, sizeof head);
        uint64_t n = head[0] == NV_INFO_SVAL ? (uint64_t)head[2] | (uint64_t)head[3] << 8 : 0;
        at += 4;
        if (n > end - at)
            return;
        if (n == sizeof value && head[1] == NV_INFO_REGCOUNT) {
            memcpy(value, code + at, sizeof value);
            const char *name = symbol_name(&f, &symbols, value[0]);
            if (*name && value[1] >= 1 && value[1] <= MAX_REGISTERS)
                fn(ctx, name, value[1]);
        }
        at += n;
    }
}

bool cubin_count(const uint8_t *code, size_t size, uint32_t *counts, uint32_t lines) {
    struct elf_file f = {.bytes = code, .size = size};
    return open_cubin(&f) && cubin_counts(&f, counts, lines);
}

bool cubin_section(const struct elf_file *f, const char *name, Elf64_Shdr *out) { return find(f, name, out); }

char *cubin_ptx(const uint8_t *code, size_t size, size_t *len) {
    struct elf_file f = {.bytes = code, .size = size};
    Elf64_Shdr text;
    if (!open_cubin(&f) || !find(&f, ".nv_debug_ptx_txt", &text) || text.sh_size == 0 || text.sh_size > CUBIN_MAX_TEXT)
        return NULL;
    char *const out = try_calloc(text.sh_size + 1, 1);
    for (size_t i = 0; out != NULL && i < text.sh_size; i++)
        out[i] = code[text.sh_offset + i] != 0 ? (char)code[text.sh_offset + i] : '\n';
    *len = text.sh_size;
    char *const lines = out ? cubin_with_lines(&f, out, text.sh_size, len) : NULL;
    if (lines != NULL)
        xfree(out);
    return lines != NULL ? lines : out;
}
