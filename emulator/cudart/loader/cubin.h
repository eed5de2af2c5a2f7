/* Reader of NVIDIA machine code (cubin), for what the emulator needs of it: how many registers a kernel uses, which PTX
 * does not say and which decides how many CTAs fit an SM; and the PTX that it was made of.
 *
 * A cubin is an ELF64 file. ptxas -lineinfo (and -g) keeps the PTX text in the section .nv_debug_ptx_txt: its lines as
 * they were, each ended by a zero byte and without its indentation, but those of .loc, .file and of comments alone
 * empty. (Read off cubins of ptxas 12.9, 13.0 and 13.4, whose text was compared with what went in.)
 *
 * Section .nv.info is a list of attributes {u8 format, u8 attribute, u16 size, bytes}; attribute 0x2f with format 4 is
 * {u32 symbol index, u32 registers} (read off cubins of nvcc 12.9 and 13.0 and held against ptxas -v). All fields are
 * untrusted: nothing outside [code, code + size) is read.
 */
#ifndef CUDART_LOADER_CUBIN_H
#define CUDART_LOADER_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A PTX text larger than this is not taken. */
#define CUBIN_MAX_TEXT ((size_t)256 << 20)

/* The bytes of the cubin at `code`, by its own headers, of which at most `limit` may be read; 0: it is none. */
size_t cubin_size(const uint8_t *code, size_t limit);
/* The PTX text that the cubin was made of, of *len bytes and with a zero behind them (owned by the caller, xfree); NULL
 * where it does not carry it. */
char *cubin_ptx(const uint8_t *code, size_t size, size_t *len);
/* Calls fn(ctx, name, registers) for every function the cubin lists; `name` lives as long as `code`. What is malformed
 * ends the list silently: without it the emulator falls back to an estimate. */
/* Machine instructions by the line of the PTX, of which it has `lines` less 1, that they were made of: counts[line],
 * from line 1 on. False where the cubin does not say it. */
bool cubin_count(const uint8_t *code, size_t size, uint32_t *counts, uint32_t lines);
void cubin_registers(const uint8_t *code, size_t size, void (*fn)(void *ctx, const char *name, uint32_t registers),
                     void *ctx);

#endif
