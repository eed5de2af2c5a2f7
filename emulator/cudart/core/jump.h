/* The host's instruction that goes on in another function with the same arguments, for symbols that are another's. */
#ifndef CUDART_CORE_JUMP_H
#define CUDART_CORE_JUMP_H

#if defined(__x86_64__)
#define JUMP "jmp"
#elif defined(__aarch64__)
#define JUMP "b"
#else
#error "the emulator runs on x86-64 and aarch64"
#endif

#endif
