/* Can the emulator run this program? Reads an ELF file before it is started.
 *
 * Contract. Works on plain bytes and keeps no state; every offset and count of the file is untrusted. Only the plainly
 * hopeless is refused, each with the line that mends it; what cannot be seen in the file (kernels in a library that is
 * opened later, programs that it starts) is let through, and the shared library speaks when it comes to it.
 */
#ifndef CUDART_LOADER_ELFCHECK_H
#define CUDART_LOADER_ELFCHECK_H

#include <stdbool.h>
#include <stddef.h>

/* What was found, for the verdict and for tests. */
struct elf_facts {
    bool dynamic;          /* asks for a loader (PT_INTERP), which finds its libraries; one of -static-pie does not */
    bool rpath, runpath;   /* DT_RPATH, DT_RUNPATH */
    bool needs_cuda;       /* links libcuda.so.1 */
    int needs_cudart;      /* links libcudart.so.N: N, or 0 */
    bool imports_register; /* __cudaRegisterFatBinary is an undefined symbol: some shared library brings the runtime */
    bool fatbin;           /* section .nv_fatbin or .nvFatBinSegment: kernels */
    bool relocatable;      /* section __nv_relfatbin: built with -rdc=true */
    bool ptx;              /* a container of .nv_fatbin holds PTX that the emulator can run */
    char fatbin_why[320];  /* why not, where none does */
    bool static_runtime;   /* the CUDA runtime is in the program, and the emulator can take its place (static.h) */
    char static_why[320];  /* it is, and the emulator cannot */
};

/* Is it a script? Then `name` holds the interpreter of its first line as Linux reads it, "" where that names none. */
#define ELF_INTERPRETER 256
bool elf_interpreter(const void *bytes, size_t size, char name[ELF_INTERPRETER]);
/* Fills *facts from the file's bytes. Returns false with a sentence when this is no ELF program for this machine. */
bool elf_read(const void *bytes, size_t size, struct elf_facts *facts, char *why, size_t why_size);
/* Judges facts: true to go on, false with a sentence that names the build flag that mends it. */
bool elf_judge(const struct elf_facts *facts, char *why, size_t why_size);

#endif
