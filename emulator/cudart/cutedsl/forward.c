/* The symbols of CuTe DSL's runtime library that do what one of CUDA's does, and those that are refused.
 *
 * The DSL's host code calls `_cudaMalloc` where others call `cudaMalloc`: its own library is a layer of such functions
 * around a CUDA runtime that is linked into it, which talks to NVIDIA's driver alone. Here each is a jump to the
 * function of this library, with the same arguments (symbols.def).
 */
#include "cudart/core/context.h"
#include "cudart/core/jump.h"

/* Arguments are not looked at: a C caller passes them in registers or cleans its own stack. */
static int refuse(const char *name) {
    struct rt_context *c = rt_enter(name);
    return rt_leave(c, rt_say(c, RT_ERROR_NOT_SUPPORTED, "not supported by the emulator"));
}

#define FORWARD(since, name, target)                                                                                   \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", %function\n" #name ":\n" JUMP " " #target "\n"                                           \
            ".size " #name ", . - " #name "\n");
#define OWN(since, name)
#define REFUSE(since, name)                                                                                            \
    RT_API int name(void);                                                                                             \
    RT_API int name(void) { return refuse(#name); }
#include "cudart/cutedsl/symbols.def"
