/* Reader of NVIDIA machine code (cubin), for the one fact that PTX does not hold: how many registers a kernel uses,
 * which decides how many CTAs fit an SM.
 *
 * A cubin is an ELF64 file. Its section .nv.info is a list of attributes {u8 format, u8 attribute, u16 size, bytes};
 * attribute 0x2f with format 4 is {u32 symbol index, u32 registers} (read off cubins of nvcc 12.9 and 13.0 and held
 * against ptxas -v). All fields are untrusted: nothing outside [code, code + size) is read.
 */
#ifndef CUDART_LOADER_CUBIN_H
#define CUDART_LOADER_CUBIN_H

#include <stddef.h>
#include <stdint.h>

/* Calls fn(ctx, name, registers) for every function the cubin lists; `name` lives as long as `code`. What is malformed
 * ends the list silently: without it the emulator falls back to an estimate. */
void cubin_registers(const uint8_t *code, size_t size, void (*fn)(void *ctx, const char *name, uint32_t registers),
                     void *ctx);

#endif
