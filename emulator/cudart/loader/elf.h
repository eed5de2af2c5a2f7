/* An ELF64 file in memory: the part that readers of host programs (elfcheck.h) and of machine code (cubin.h) share.
 * Layout: System V ABI, chapters 4 and 5 (elf.h).
 *
 * Contract. Plain bytes, no state; every offset and count of the file is untrusted, and nothing outside it is read.
 * Functions that return bool answer false for what lies outside the file.
 */
#ifndef CUDART_LOADER_ELF_H
#define CUDART_LOADER_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header; /* filled by elf_get */
};

bool elf_holds(const struct elf_file *f, uint64_t offset, uint64_t n);
/* Copies `n` bytes at `offset`, which also takes care of alignment. */
bool elf_get(const struct elf_file *f, uint64_t offset, void *out, size_t n);
/* Copies element i of a table of records. */
bool elf_entry(const struct elf_file *f, uint64_t table, uint64_t entry_size, uint64_t i, void *out, size_t n);
/* Section header i; its contents may still lie outside the file. */
bool elf_section(const struct elf_file *f, unsigned i, Elf64_Shdr *out);
/* The zero-terminated text at `index` of the string table [offset, offset + size), or "". A text of ELF_MAX_TEXT bytes
 * or more is "", too: a file may have a million symbols of one name. A kernel's mangled name can be long. */
#define ELF_MAX_TEXT 65536u
const char *elf_string(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t index);
/* The same of a section that is a string table, for names that are compared with short ones: ELF_MAX_NAME is enough. */
#define ELF_MAX_NAME 256u
const char *elf_name(const struct elf_file *f, const Elf64_Shdr *strings, uint32_t index);
/* The `n` bytes that the loader maps at address `v` as code, or NULL. */
const uint8_t *elf_code(const struct elf_file *f, uint64_t v, uint64_t n);

#endif
