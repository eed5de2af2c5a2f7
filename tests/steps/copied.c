/* copied.c - preloaded into a program: for every copy from the GPU to the host one line on stderr, its bytes and a hash
 * (FNV-1a) of them. So two programs' results are compared bit for bit, and neither has to print them. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DEVICE_TO_HOST = 2 }; /* cudaMemcpyDeviceToHost */

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    int (*copy)(void *, const void *, size_t, int);
    *(void **)&copy = dlsym(RTLD_NEXT, "cudaMemcpy");
    const int code = copy(to, from, bytes, kind);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes && kind == DEVICE_TO_HOST; i++)
        hash = (hash ^ ((const unsigned char *)to)[i]) * 0x100000001b3u;
    if (kind == DEVICE_TO_HOST)
        fprintf(stderr, "copied %zu bytes, %016llx\n", bytes, (unsigned long long)hash);
    return code;
}
