"""Python packages that call the driver API, one after the other: each gets a kernel's PTX, launches it and copies back.

    driver.py                 says of each package whether it is right or not installed; exit code 77: none is
    driver.py PACKAGE         of that one alone: bindings, core, pycuda

An error is the package's own exception. Nothing but the package is needed: arrays are those of the standard library.
"""
import array
import importlib
import sys

N = 96
PTX = b"""
.version 8.6
.target sm_100a
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n)
{
    .reg .b64 %p<3>;
    .reg .b32 %i, %v, %n;
    .reg .pred %past;
    ld.param.u64 %p0, [p];
    ld.param.u32 %n, [n];
    mov.u32 %i, %tid.x;
    setp.ge.u32 %past, %i, %n;
    @%past ret;
    mul.wide.u32 %p1, %i, 4;
    add.u64 %p2, %p0, %p1;
    ld.global.u32 %v, [%p2];
    add.u32 %v, %v, 1;
    st.global.u32 [%p2], %v;
    ret;
}
"""
BROKEN = PTX.replace(b"%v;", b"%v", 1)


def numbers():
    return array.array("I", range(N + 1))


def check(package, got):
    want = [i + 1 for i in range(N)] + [N]  # the last is past the end
    if list(got) != want:
        raise SystemExit(f"{package}: {list(got)} instead of {want}")


def bindings():
    """cuda-bindings: the driver's functions themselves; libraries, the linker, a log of what is wrong with a text."""
    from cuda.bindings import driver as d

    def call(function, *arguments):
        code, *results = function(*arguments)
        if code != d.CUresult.CUDA_SUCCESS:
            raise SystemExit(f"{function.__name__}: {code}")
        return results[0] if len(results) == 1 else results

    def host(a):
        return a.buffer_info()[0]

    call(d.cuInit, 0)
    device = call(d.cuDeviceGet, 0)
    context = call(d.cuDevicePrimaryCtxRetain, device)
    call(d.cuCtxSetCurrent, context)
    jit, ptx = d.CUjit_option, d.CUjitInputType.CU_JIT_INPUT_PTX
    log = bytearray(500)
    options = [jit.CU_JIT_ERROR_LOG_BUFFER, jit.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    link = call(d.cuLinkCreate, 2, options, [log, len(log)])
    (code,) = d.cuLinkAddData(link, ptx, BROKEN, len(BROKEN), b"add.ptx", 0, [], [])
    if code != d.CUresult.CUDA_ERROR_INVALID_PTX or b"add.ptx:" not in log:
        raise SystemExit(f"cuda-bindings: a broken text: {code}, {bytes(log)}")
    call(d.cuLinkAddData, link, ptx, PTX, len(PTX), b"add.ptx", 0, [], [])
    image, _ = call(d.cuLinkComplete, link)
    library = call(d.cuLibraryLoadData, image, [], [], 0, [], [], 0)
    call(d.cuLinkDestroy, link)
    (kernel,) = call(d.cuLibraryEnumerateKernels, 1, library)
    function = call(d.cuKernelGetFunction, kernel)
    a = numbers()
    p = call(d.cuMemAlloc, 4 * (N + 1))
    call(d.cuMemcpyHtoD, p, host(a), 4 * (N + 1))
    values = array.array("Q", [int(p), N])
    pointers = array.array("Q", [host(values), host(values) + 8])
    call(d.cuLaunchKernel, function, 1, 1, 1, 128, 1, 1, 0, 0, host(pointers), 0)
    call(d.cuCtxSynchronize)
    call(d.cuMemcpyDtoH, host(a), p, 4 * (N + 1))
    check("cuda-bindings", a)


def core():
    """cuda-core: objects above it, and memory out of a pool of its own."""
    import ctypes

    from cuda.bindings import driver as d
    from cuda.core import Device, LaunchConfig, ObjectCode, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = ObjectCode.from_ptx(PTX).get_kernel("add")
    if kernel.num_arguments != 2:
        raise SystemExit(f"cuda-core: {kernel.num_arguments} parameters")
    a = numbers()
    buffer = device.allocate(4 * (N + 1), stream=stream)
    d.cuMemcpyHtoD(int(buffer.handle), a.buffer_info()[0], 4 * (N + 1))
    launch(stream, LaunchConfig(grid=1, block=128), kernel, buffer, ctypes.c_uint32(N))
    stream.sync()
    d.cuMemcpyDtoH(a.buffer_info()[0], int(buffer.handle), 4 * (N + 1))
    check("cuda-core", a)


def pycuda():
    """PyCUDA: the context of cuCtxCreate, launches of both kinds."""
    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as d

    try:
        d.module_from_buffer(BROKEN)
        raise SystemExit("PyCUDA: a broken text was loaded")
    except d.LogicError as e:
        if "expected ';'" not in str(e):
            raise
    function = d.module_from_buffer(PTX).get_function("add")
    a = numbers()
    p = d.mem_alloc(4 * (N + 1))
    d.memcpy_htod(p, a)
    function.prepare("PI")
    function.prepared_call((1, 1), (128, 1, 1), p, N)
    d.memcpy_dtoh(a, p)
    check("PyCUDA", a)


PACKAGES = {"bindings": (bindings, "cuda.bindings.driver"), "core": (core, "cuda.core"), "pycuda": (pycuda, "pycuda")}


def main(names):
    ran = 0
    for name in names or PACKAGES:
        run, module = PACKAGES[name]
        try:
            importlib.import_module(module)
        except ImportError as e:
            print(f"skipped: {name} ({e})")
            continue
        run()
        print(f"{name}: right")
        ran += 1
    return 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
