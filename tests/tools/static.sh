#!/bin/sh
# static.sh ROOT EMULATOR TOOLKIT_ENV LIBRARY: a program built by nvcc's defaults, that is with the static CUDA runtime,
# runs as one with the shared runtime does, PIE and not, alone, as a child and in a library; no page is writable and
# executable; a stripped one is refused with both remedies. LIBRARY is what the launcher preloads.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 emulator=$2 preloaded=$4
needs strip g++
# shellcheck disable=SC1090
. "$3"

cat >"$scratch/prog.cu" <<'CUDA'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__device__ int offset = 1;
__global__ void add(int *p, int i) { p[i + threadIdx.x] += offset; }

/* 64, or the CUDA error as a negative number. */
extern "C" int run(int i) {
    int *p, sum = 0, two = 2;
    if (cudaMallocManaged(&p, 32 * sizeof *p) || cudaMemcpyToSymbol(offset, &two, sizeof two))
        return -1;
    add<<<1, 32>>>(p, i);
    if (cudaError_t e = cudaDeviceSynchronize())
        return -(int)e;
    for (int k = 0; k < 32; k++)
        sum += p[k];
    return sum;
}

/* Mappings that are writable and executable. */
static int both(void) {
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, " rwx") != NULL;
    return n;
}

int main(int argc, char **argv) {
    int version = 0;
    cudaDeviceProp prop;
    if (argc > 2)
        return system(argv[2]) != 0;
    cudaRuntimeGetVersion(&version);
    cudaGetDeviceProperties(&prop, 0);
    printf("%d, version %d as compiled, %d SMs, %d pages, %s\n", run(argc > 1 ? 1000 : 0), version - CUDART_VERSION,
           prop.multiProcessorCount, both(), getenv("MARK"));
    return 0;
}
CUDA
cat >"$scratch/host.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#ifdef LINKED
int run(int i);
int main(void) { return printf("%d\n", run(0)) < 0; }
#else
int main(int argc, char **argv) {
    void *library = 0;
    for (int i = 1; i < argc; i++)
        library = dlopen(argv[i], RTLD_NOW);
    int (*run)(int) = library ? (int (*)(int))dlsym(library, "run") : 0;
    return printf("%d\n", run ? run(0) : -2) < 0;
}
#endif
C
# What systemd's MemoryDenyWriteExecute does: nothing that was writable becomes executable.
cat >"$scratch/deny.c" <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
                                  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
                                  BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 0, 1), /* PROT_EXEC */
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 13),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 77;
    execv(argv[1], argv + 1);
    return 1;
}
C
cd "$scratch" || exit 1
libs="-L$LINK_DIR -lcudart_static -ldl -lpthread -lrt"
"$NVCC" -arch=sm_100a -lineinfo -Xcompiler -fPIC -c prog.cu -o prog.o && "$NVCC" -arch=sm_100a prog.o -o plain || exit 1
# shellcheck disable=SC2086
g++ -no-pie prog.o -o fixed $libs && g++ -pie -Wl,-z,now prog.o -o pie $libs || exit 1
export MARK=set
good='64, version 0 as compiled, 148 SMs, 0 pages, set'

for program in plain fixed pie; do
    run 0 "$program" "$emulator" --time ./$program
    same "$program" "$(cat out)" "$good"
    says '^sm100emu: .*warp instructions'
    run 3 "$program with a mistake" "$emulator" ./$program 1
    says '\[global-out-of-bounds\]'
    says "ptx: $program\\.sm_100a\\.ptx"
done
run 0 'a child' "$emulator" ./plain - ./fixed
same 'a child' "$(cat out)" "$good"
run 0 'beside a library that is preloaded' env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}libm.so.6" "$emulator" ./plain
same 'beside a library that is preloaded' "$(cat out)" "$good"

# A host program under a sanitizer, whose runtime must come before what is preloaded.
# shellcheck disable=SC2086
if [ -z "${SAN_LIB:-}" ] && g++ -fsanitize=address prog.o -o checked $libs 2>link.log; then
    ASAN_OPTIONS=detect_leaks=0 run 0 'under AddressSanitizer' "$emulator" ./checked
    same 'under AddressSanitizer' "$(cat out)" "$good"
fi

# A library with a runtime of its own, in a program without one.
# shellcheck disable=SC2086
g++ -shared prog.o -o libprog.so $libs && cc -DLINKED host.c -o linked -L. -lprog -Wl,-rpath,"$scratch" &&
    cc host.c -o opener -ldl || exit 1
for program in linked opener; do
    run 0 "$program" env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}$preloaded" ./$program ./libprog.so
    same "$program" "$(cat out)" 64
done

# More libraries than are looked at, which are said to be so once.
echo 'int nothing;' >many.c && cc -shared many.c -o many.so && mkdir many || exit 1
i=0
while [ $((i += 1)) -le 1030 ]; do cat many.so >many/$i.so; done
run 0 'many libraries' env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}$preloaded" ./opener ./many/*.so
same 'many libraries' "$(grep -c '^sm100emu: ' err)" 1
says './opener: only its first 1023 libraries are looked at for a static CUDA runtime, not \./many/'

strip -s libprog.so
run 0 'a stripped library' env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}$preloaded" ./opener ./libprog.so
says 'libprog\.so: .*was stripped of its symbols .*Its CUDA calls will fail'

cc deny.c -o deny || exit 1
if ./deny ./opener ./none.so >/dev/null; then # not where the kernel has no such filters
    run 0 'where no page may become executable' \
        env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}$preloaded" ./deny ./opener ./none.so
    same 'where no page may become executable' "$(cat out)" -2
    run 126 'a static runtime where no page may become executable' "$emulator" ./deny ./plain
    says "plain: the host does not allow changes to the code of the static CUDA runtime"
fi

for how in '-s' '-x'; do
    strip $how -o stripped plain
    run 126 "strip $how" "$emulator" ./stripped
    says "was stripped of its symbols .*NVCC_APPEND_FLAGS='-cudart shared', or link it again without -s or strip"
    run 126 "strip $how, without the launcher" env LD_PRELOAD="${SAN_LIB:+$SAN_LIB:}$preloaded" ./stripped
    says "stripped: .*was stripped of its symbols .*NVCC_APPEND_FLAGS='-cudart shared'"
done
exit $bad
