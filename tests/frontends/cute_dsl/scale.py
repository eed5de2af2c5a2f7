"""scale.py [right|stray]: a kernel in CuTe DSL, by NumPy and cuda-bindings alone. It is compiled twice, with the same name
and another constant each time, before either runs. stray: it also writes behind the end of its array.
"""

import sys

import cutlass
import cutlass.cute as cute
import numpy as np
from cuda.bindings import driver, runtime
from cutlass.cute.runtime import make_ptr

THREADS, CTAS = 128, 4
COUNT = THREADS * CTAS


@cute.kernel
def scale(x: cute.Pointer, factor: cutlass.Constexpr, beyond: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    cta, _, _ = cute.arch.block_idx()
    values = cute.make_tensor(x, cute.make_layout(2 * COUNT))
    i = cta * THREADS + thread + beyond
    values[i] = values[i] * factor  # STRAY


@cute.jit
def launch(x: cute.Pointer, factor: cutlass.Constexpr, beyond: cutlass.Int32):
    scale(x, factor, beyond).launch(grid=(CTAS, 1, 1), block=(THREADS, 1, 1))


def check(answer):
    if answer[0].value:
        sys.exit("scale.py: %s" % answer[0])
    return answer[1] if len(answer) > 1 else None


check(driver.cuInit(0))
check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(0))))
values = np.arange(COUNT, dtype=np.float32)
address = int(check(runtime.cudaMalloc(values.nbytes)))
check(runtime.cudaMemcpy(address, values.ctypes.data, values.nbytes, runtime.cudaMemcpyKind.cudaMemcpyHostToDevice))
x = make_ptr(cutlass.Float32, address, cute.AddressSpace.gmem, assumed_align=16)
double, triple = cute.compile(launch, x, 2, 0), cute.compile(launch, x, 3, 0)
beyond = 16 if sys.argv[1:] == ["stray"] else 0
double(x, beyond)
triple(x, 0)
check(runtime.cudaDeviceSynchronize())
result = np.empty_like(values)
check(runtime.cudaMemcpy(result.ctypes.data, address, values.nbytes, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
print("scale.py: right" if (result == 6 * values).all() else "scale.py: WRONG")
