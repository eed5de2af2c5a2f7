/* Register counts out of machine code; contract in cubin.h. */
#include "cudart/loader/cubin.h"

#include <elf.h>
#include <string.h>

#define NV_INFO_SVAL 4 /* attribute format: a value of `size` bytes follows */
#define NV_INFO_REGCOUNT 0x2f
#define MAX_REGISTERS 255u /* per thread (CUDA C++ Programming Guide, compute capability 10.0) */

struct file {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr head;
};

/* [offset, offset + n) of the file into `to`. */
static int read_at(const struct file *f, uint64_t offset, void *to, size_t n) {
    if (offset > f->size || n > f->size - offset)
        return -1;
    memcpy(to, f->bytes + offset, n);
    return 0;
}

static int section(const struct file *f, uint32_t index, Elf64_Shdr *out) {
    if (index >= f->head.e_shnum)
        return -1;
    uint64_t at = f->head.e_shoff + (uint64_t)index * sizeof *out;
    if (at < f->head.e_shoff || read_at(f, at, out, sizeof *out) < 0)
        return -1;
    return out->sh_offset <= f->size && out->sh_size <= f->size - out->sh_offset ? 0 : -1;
}

/* A zero-terminated string of a string section, or NULL. */
static const char *string(const struct file *f, const Elf64_Shdr *strings, uint32_t offset) {
    if (offset >= strings->sh_size)
        return NULL;
    const char *s = (const char *)f->bytes + strings->sh_offset + offset;
    return memchr(s, 0, strings->sh_size - offset) ? s : NULL;
}

/* The section of this name; with name NULL, the symbol table. */
static int find(const struct file *f, const char *name, Elf64_Shdr *out) {
    Elf64_Shdr names;
    if (section(f, f->head.e_shstrndx, &names) < 0)
        return -1;
    for (uint32_t i = 0; i < f->head.e_shnum; i++) {
        if (section(f, i, out) < 0)
            continue;
        const char *s = string(f, &names, out->sh_name);
        if (name ? s && strcmp(s, name) == 0 : out->sh_type == SHT_SYMTAB)
            return 0;
    }
    return -1;
}

static const char *symbol_name(const struct file *f, const Elf64_Shdr *symbols, uint32_t index) {
    Elf64_Sym sym;
    Elf64_Shdr strings;
    if (index >= symbols->sh_size / sizeof sym || section(f, symbols->sh_link, &strings) < 0 ||
        read_at(f, symbols->sh_offset + (uint64_t)index * sizeof sym, &sym, sizeof sym) < 0)
        return NULL;
    return string(f, &strings, sym.st_name);
}

void cubin_registers(const uint8_t *code, size_t size, void (*fn)(void *ctx, const char *name, uint32_t registers),
                     void *ctx) {
    struct file f = {.bytes = code, .size = size};
    Elf64_Shdr info, symbols;
    if (read_at(&f, 0, &f.head, sizeof f.head) < 0 || memcmp(f.head.e_ident, ELFMAG, SELFMAG) != 0 ||
        f.head.e_ident[EI_CLASS] != ELFCLASS64 || f.head.e_shentsize != sizeof(Elf64_Shdr) ||
        find(&f, ".nv.info", &info) < 0 || find(&f, NULL, &symbols) < 0)
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
            if (name && value[1] >= 1 && value[1] <= MAX_REGISTERS)
                fn(ctx, name, value[1]);
        }
        at += n;
    }
}
