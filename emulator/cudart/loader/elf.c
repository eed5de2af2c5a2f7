/* ELF64 files in memory; contract in elf.h. */
#include "cudart/loader/elf.h"

#include <string.h>

bool elf_holds(const struct elf_file *f, uint64_t offset, uint64_t n) {
    return offset <= f->size && n <= f->size - offset;
}

bool elf_get(const struct elf_file *f, uint64_t offset, void *out, size_t n) {
    if (!elf_holds(f, offset, n))
        return false;
    memcpy(out, f->bytes + offset, n);
    return true;
}

bool elf_entry(const struct elf_file *f, uint64_t table, uint64_t entry_size, uint64_t i, void *out, size_t n) {
    uint64_t offset;
    if (__builtin_mul_overflow(i, entry_size, &offset) || __builtin_add_overflow(offset, table, &offset))
        return false;
    return elf_get(f, offset, out, n);
}

bool elf_section(const struct elf_file *f, unsigned i, Elf64_Shdr *out) {
    return i < f->header.e_shnum && elf_entry(f, f->header.e_shoff, f->header.e_shentsize, i, out, sizeof *out);
}

const char *elf_string(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t index) {
    if (!elf_holds(f, offset, size) || index >= size)
        return "";
    const char *text = (const char *)f->bytes + offset + index;
    return memchr(text, 0, size - index) ? text : "";
}
