"""cheats.py - kernels that want a mark without the work; test_cheats.py has each refused, and rewarded without its
guards.

A cheat is a student's file, mostly a fixture's solution with D made wrong and something in it to hide that.
"""

import dataclasses
from dataclasses import dataclass

from fixture import ARRIVALS, PRODUCT, PROXY, RACE, ROOT, changed
from sm100repo.course.model import FILL


@dataclass(frozen=True)
class Cheat:
    name: str
    exercise: object
    text: str
    guards: tuple[str, ...]  # of guards.py: without them it has marks
    small: bool = False  # the draw is one small f16 problem, with and without the guards


def of(exercise, *changes):
    text = exercise.solution
    for old, new in changes:
        text = changed(text, old, new)
    return text


BEGIN = "    extern __shared__ __align__(1024) unsigned char storage[];\n"  # a kernel does
STORE = "            *(float4 *)(d + column + i) = out;\n"  # the epilogue does
WRONG = (STORE, "            out.x += 1;\n" + STORE)
STDIO = ("#include <stdint.h>\n", "#include <stdint.h>\n#include <stdio.h>\n")
STORAGE = "struct shared_storage {\n"
LESSON = f"{ROOT}/04_pair_umma/04_pair_umma.cu"


def first(text):
    """Text in front of what the kernel does."""
    return BEGIN, text + BEGIN


PRINTS = '    if (threadIdx.x == 0)\n        printf("PASS  04_pair_umma: max relative error 0 (bound 1)\\n");\n'

ONCE = """    __shared__ int late;
    if (threadIdx.x == 0)
        late = atomicAdd(&launched, 1) >= (int)(gridDim.x * gridDim.y);
    __syncthreads();
    if (late)
        return;
"""

LOOPS = """    for (int column = 0; column < TILE_N; column++) {
        const __half *a = (const __half *)(g.a + (blockIdx.y * TILE_M + threadIdx.x) * g.row_bytes);
        const __half *b = (const __half *)(g.b + (blockIdx.x * TILE_N + column) * g.row_bytes);
        const size_t at = (size_t)(blockIdx.y * TILE_M + threadIdx.x) * g.n + blockIdx.x * TILE_N + column;
        float sum = 0;
        for (int k = 0; k < (int)g.row_bytes / 2; k++)
            sum += __half2float(a[k]) * __half2float(b[k]);
        g.d[at] = g.alpha * sum + (g.beta != 0 ? g.beta * g.c[at] : 0);
    }
    return;
"""

BEFORE_MAIN = """#include <stdint.h>
#include <stdlib.h>
static int early(void) {
    _Exit(0);
}
static int now = early();
"""



def races(lines):
    """Lines that store where other threads do: a finding each, and no harm to D."""
    stores = [f'    asm volatile("st.shared.b32 [%0], %1;" ::"r"(smem_address(&drowned)), "r"(threadIdx.x + {i}));\n'
              for i in range(lines)]
    return BEGIN, "".join([BEGIN, "    __shared__ int drowned;\n", *stores])


def releases(words):
    """Lines that release so many different words, which nobody asks for."""
    asm = 'asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(noise + i), "r"(i) : "memory");'
    return BEGIN, f"""    static __device__ unsigned noise[{words}];
    for (unsigned i = threadIdx.x; i < {words}; i += blockDim.x)
        {asm}
""" + BEGIN


CHEATS = [
    # what it prints, and how it ends
    Cheat("prints PASS", ARRIVALS, of(ARRIVALS, STDIO, WRONG, first(PRINTS)), ("stdout is not read", )),
    Cheat("returns at once", ARRIVALS, of(ARRIVALS, first("    return;\n")), ("the exit code", "the work")),
    Cheat("traps", ARRIVALS, of(ARRIVALS, first("    __trap();\n")), ("the exit code", "the faults", "the work",
                                                                      "the rules")),
    # what it is run with, and how often
    Cheat("knows the default size", ARRIVALS, of(ARRIVALS, (STORE, """            if (g->n != 1024 || g->k_tiles != 4)
                out.x += 1;
""" + STORE)), ("the draw", )),
    Cheat("right the first time", ARRIVALS,
          of(ARRIVALS, first(ONCE), (STORAGE, "static __device__ int launched;\n\n" + STORAGE)),
          ("the second launch", )),
    # somebody else's work
    Cheat("calls the host's reference", ARRIVALS,
          of(ARRIVALS, ("#include <stdint.h>\n", '#include <stdint.h>\n#include "../common/reference.h"\n'),
             first("    reference_gemm(1, 1, 1, NULL, NULL, NULL);\n")), ()),
    Cheat("includes the lesson's program", ARRIVALS, f'#include "{LESSON}"\n', ("the list of files", )),
    Cheat("includes it by a macro", ARRIVALS, f'#define LESSON "{LESSON}"\n#include LESSON\n', ("the list of files", )),
    Cheat("includes it for the device alone", ARRIVALS,
          f'#ifdef __CUDA_ARCH__\n#include "{LESSON}"\n#endif\n', ("the list of files", )),
    Cheat("includes it from its own folder", ARRIVALS, '#include "04_pair_umma.cu"\n', ("the headers", )),
    # no tensor core, no device
    Cheat("computes by plain loops", PRODUCT,
          of(PRODUCT, ("#include <stdint.h>\n", "#include <cuda_fp16.h>\n#include <stdint.h>\n"), first(LOOPS)),
          ("the work", ), True),
    Cheat("computes before main", ARRIVALS, of(ARRIVALS, WRONG, ("#include <stdint.h>\n", BEFORE_MAIN)),
          ("the device alone", "the faults", "the work")),
    # what surrounds it
    Cheat("a flag from the environment", ARRIVALS,
          of(ARRIVALS, (STORE, "#ifndef RIGHT\n            out.x += 1;\n#endif\n" + STORE)), ("the environment", )),
    Cheat("a search path from the environment", ARRIVALS,
          '#include "stolen.cuh"\n', ("the environment", "the list of files")),
    Cheat("findings to be passed over", PROXY, PROXY.start + "\n", ("the rules", )),  # the file has them
    Cheat("a flood of findings, in which one drowns", dataclasses.replace(PROXY, kind=FILL),
          changed(PROXY.start, *races(300)), ("the room for findings", )),
    Cheat("a race among more words than the checker keeps", RACE,
          changed(RACE.start, *releases(400_000)), ("what was not seen", )),
    Cheat("another mistake for the one to be mended", PROXY,of(PROXY, races(1)), ("every finding of a repair", )),
    Cheat("a header beside it", ARRIVALS, '#include "own.cuh"\n', ("the headers", )),
    # right by luck
    Cheat("right where operations run at once", PRODUCT,
          of(PRODUCT, ("        mbarrier_wait(done, kt & 1); /* phase kt: the UMMAs have read the tiles and written "
                       "the accumulator */\n", "        __syncthreads();\n")), ("the schedules", "the checker")),
]
