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

static const char *text_at(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t index, uint64_t most) {
    if (!elf_holds(f, offset, size) || index >= size)
        return "";
    const char *text = (const char *)f->bytes + offset + index;
    return memchr(text, 0, size - index < most ? size - index : most) ? text : "";
}

const char *elf_string(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t index) {
    return text_at(f, offset, size, index, ELF_MAX_TEXT);
}

const char *elf_name(const struct elf_file *f, const Elf64_Shdr *strings, uint32_t index) {
    return text_at(f, strings->sh_offset, strings->sh_size, index, ELF_MAX_NAME);
}

/* Linkers make some ten program headers. */
#define MAX_SEGMENTS 128u

const uint8_t *elf_code(const struct elf_file *f, uint64_t v, uint64_t n) {
    Elf64_Phdr p;
    for (unsigned i = 0; i < f->header.e_phnum && i < MAX_SEGMENTS; i++)
        if (elf_entry(f, f->header.e_phoff, f->header.e_phentsize, i, &p, sizeof p) && p.p_type == PT_LOAD &&
            (p.p_flags & PF_X) != 0 && v >= p.p_vaddr && v - p.p_vaddr <= p.p_filesz &&
            n <= p.p_filesz - (v - p.p_vaddr) && elf_holds(f, p.p_offset, p.p_filesz))
            return f->bytes + p.p_offset + (v - p.p_vaddr);
    return NULL;
}
