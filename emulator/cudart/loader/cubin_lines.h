/* Source lines of a kernel, out of machine code that was compiled with line information.
 *
 * The PTX that a cubin carries (cubin.h) lacks its .loc lines, but the cubin has two line tables (DWARF 2, 6.2):
 * section .debug_line takes addresses of machine code to lines of the source, .nv_debug_line_sass to lines of the PTX.
 * An address that both have joins a line of PTX to its source. A PTX instruction that ptxas dropped or merged has no
 * address of its own. A run of PTX lines between two empty ones, where .loc may have stood, is of one source line, so
 * that one address is enough for it.
 */
#ifndef CUDART_LOADER_CUBIN_LINES_H
#define CUDART_LOADER_CUBIN_LINES_H

#include "cudart/loader/elf.h"

/* A section of the cubin by name, with its bytes inside the file; false: there is none. */
bool cubin_section(const struct elf_file *f, const char *name, Elf64_Shdr *out);

/* The PTX text with .loc lines in place of empty ones, and .file lines at its end (owned by the caller, xfree): no line
 * moves. NULL where the cubin has no line tables, where they are malformed, or where the host has no memory. */
char *cubin_with_lines(const struct elf_file *f, const char *text, size_t len, size_t *new_len);

/* Machine instructions by the line of the PTX that they were made of: counts[line], for lines below `lines`, by the
 * table .nv_debug_line_sass. False where the cubin has none, or a malformed one: no count is to be used then. */
bool cubin_counts(const struct elf_file *f, uint32_t *counts, uint32_t lines);

#endif
