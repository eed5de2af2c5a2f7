"""dot.py [right|stray|child|test]: a product of two matrices by Triton, by pointers, on what needs neither torch nor NumPy.

The numbers are small whole ones, so each sum is exact. `stray` stores behind the end of C as well, `child` does that in a
process of its own, and `test` under the name that pytest would give it.
"""

import ctypes
import multiprocessing
import os
import struct
import sys

import triton
import triton.language as tl

M, N, K = 128, 64, 64


class Array:
    """What Triton takes for a tensor: data_ptr() and dtype."""

    def __init__(self, cuda, count, dtype):
        pointer = ctypes.c_void_p()
        assert cuda.cuMemAllocManaged(ctypes.byref(pointer), ctypes.c_size_t(2 * count), 1) == 0
        self.address, self.dtype = pointer.value, dtype
        self.bytes = (ctypes.c_char * (2 * count)).from_address(self.address)

    def data_ptr(self):
        return self.address


@triton.jit
def dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr, STRAY: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((M, N), tl.float32)
    for first in range(0, K, BLOCK):
        left = tl.load(a + m[:, None] * K + (first + k)[None, :])
        right = tl.load(b + (first + k)[:, None] * N + n[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))
    if STRAY:
        tl.store(c + M * N + (1 << 20), 1.0)  # STRAY


def run(stray):
    cuda = ctypes.CDLL("libcuda.so.1")
    triton.runtime.driver.active.get_current_device()  # makes the context
    a = [(i * 7 + i // 64) % 5 - 2 for i in range(M * K)]
    b = [(i * 3 + i // 32) % 7 - 3 for i in range(K * N)]
    A, B, C = Array(cuda, M * K, "fp16"), Array(cuda, K * N, "fp16"), Array(cuda, M * N, "fp16")
    A.bytes[:] = struct.pack("%de" % (M * K), *a)
    B.bytes[:] = struct.pack("%de" % (K * N), *b)
    dot[(1,)](A, B, C, M, N, K, BLOCK=32, STRAY=stray)
    cuda.cuCtxSynchronize()
    if stray:
        return
    rows = [[sum(a[m * K + k] * b[k * N + n] for k in range(K)) for n in range(N)] for m in range(M)]
    assert list(struct.unpack("%de" % (M * N), C.bytes[:])) == [x for row in rows for x in row], "C is wrong"
    print("C is right")


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "child":
        child = multiprocessing.get_context("spawn").Process(target=run, args=(True,))
        child.start()
        child.join()
    else:
        if what == "test":
            os.environ["PYTEST_CURRENT_TEST"] = "test_dot.py::test_stray (call)"
        run(what != "right")
