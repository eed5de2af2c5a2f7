"""A stand-in for PyTorch, for the host part of CuTe DSL's examples: what they call of it, by NumPy.

NVIDIA's examples make their matrices with PyTorch, compute the reference with it and compare with it. None of that is
what one wants to look at, and PyTorch is a download of gigabytes. With this folder in PYTHONPATH, `import torch` finds
this file. A tensor on the device "cuda" is managed memory (cuMemAllocManaged), which host and device both address, and
every operation on it is done by the host after cuCtxSynchronize. What is not here raises AttributeError.
"""

import ctypes
import math
import sys
import types

import numpy as np
from cuda.bindings import driver

# ------------------------------------------------------------------------------------------------ types of elements


class dtype:
    """An element type: how NumPy stores it, and DLPack's type code and bits (dlpack.h)."""

    def __init__(self, name, storage, code, decode=None):
        self.name, self.storage, self.code = name, np.dtype(storage), code
        self.itemsize = self.storage.itemsize
        self.is_floating_point = code in (2, 4) or decode is not None
        self.is_signed = self.is_floating_point or code == 0
        self.decode = decode  # values of all bit patterns, for what NumPy does not know

    def __repr__(self):
        return "torch." + self.name


def table(bits, exponent, mantissa, bias, inf=False, signed=True):
    """The values of all patterns of a small float (OCP 8-bit and MX specifications)."""
    out = np.zeros(1 << bits, np.float32)
    for i in range(1 << bits):
        e, m = i >> mantissa & ((1 << exponent) - 1), i & ((1 << mantissa) - 1)
        v = (m / (1 << mantissa) if e == 0 else 1 + m / (1 << mantissa)) * 2.0 ** ((e or 1) - bias)
        if inf and e == (1 << exponent) - 1:
            v = math.nan if m else math.inf
        out[i] = -v if signed and i >> (exponent + mantissa) & 1 else v
    return out


def e4m3():
    out = table(8, 4, 3, 7)
    out[[0x7F, 0xFF]] = math.nan
    return out


def e8m0():
    out = 2.0 ** (np.arange(256, dtype=np.float64) - 127)
    out[255] = math.nan
    return out.astype(np.float32)


UNSIGNED, FLOAT, BFLOAT, BOOLEAN = 1, 2, 4, 6
float64 = double = dtype("float64", np.float64, FLOAT)
float32 = float = dtype("float32", np.float32, FLOAT)
float16 = half = dtype("float16", np.float16, FLOAT)
bfloat16 = dtype("bfloat16", np.uint16, BFLOAT, (np.arange(65536, dtype=np.uint32) << 16).view(np.float32))
int64 = long = dtype("int64", np.int64, 0)
int32 = int = dtype("int32", np.int32, 0)
int16 = dtype("int16", np.int16, 0)
int8 = dtype("int8", np.int8, 0)
uint8 = dtype("uint8", np.uint8, UNSIGNED)
uint32 = dtype("uint32", np.uint32, UNSIGNED)
bool = dtype("bool", np.bool_, BOOLEAN)
float8_e4m3fn = dtype("float8_e4m3fn", np.uint8, UNSIGNED, e4m3())
float8_e5m2 = dtype("float8_e5m2", np.uint8, UNSIGNED, table(8, 5, 2, 15, inf=True))
float8_e8m0fnu = dtype("float8_e8m0fnu", np.uint8, UNSIGNED, e8m0())
# Names that the DSL looks up; their elements are bytes here.
float8_e4m3fnuz = dtype("float8_e4m3fnuz", np.uint8, UNSIGNED)
float4_e2m1fn_x2 = dtype("float4_e2m1fn_x2", np.uint8, UNSIGNED)
inf = math.inf


def encode(values, to):
    """Values as patterns of the type: the nearest, of two the even one."""
    if to is bfloat16:
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
        return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)
    order = np.argsort(np.where(np.isnan(to.decode), np.inf, to.decode), kind="stable")
    known = to.decode[order]
    last = np.searchsorted(known, np.inf) - 1
    known, order = known[: last + 1], order[: last + 1]
    values = np.clip(np.asarray(values, np.float32), known[0], known[-1])
    at = np.clip(np.searchsorted(known, values), 1, last)
    low, high = known[at - 1], known[at]
    up = (values - low > high - values) | ((values - low == high - values) & (order[at] % 2 == 0))
    return order[np.where(up, at, at - 1)].astype(to.storage)


# ------------------------------------------------------------------------------------------------ the device


def check(answer):
    if answer[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(answer[0]))
    return answer[1] if len(answer) > 1 else None


def begin():
    """Makes the device's context current, where none is yet."""
    check(driver.cuInit(0))
    if not builtins_int(check(driver.cuCtxGetCurrent())):
        check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(0))))


class Memory:
    """Managed memory as an array of bytes, freed with the last array that uses it."""

    def __init__(self, size):
        begin()
        flags = driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value
        self.address = builtins_int(check(driver.cuMemAllocManaged(max(size, 1), flags)))
        self.__array_interface__ = {"data": (self.address, False), "shape": (size,), "typestr": "|u1", "version": 3}

    def __del__(self):
        if sys is not None and not sys.is_finalizing():
            driver.cuMemFree(self.address)


class device:
    def __init__(self, name):
        self.type = getattr(name, "type", str(name)).split(":")[0]
        self.index = 0

    def __eq__(self, other):
        return self.type == device(other).type

    def __repr__(self):
        return f"device(type='{self.type}')"


builtins_int = type(0)
builtins_float = type(0.0)


def room(like, storage, on):
    """An array of zeros in the memory of a device: dense, with the axes of `like` in the order of its strides."""
    order = sorted(range(like.ndim), key=lambda i: -like.strides[i])
    shape = [like.shape[i] for i in order]
    if on.type == "cuda":
        flat = np.asarray(Memory(like.size * storage.itemsize)).view(storage)
        flat[...] = np.zeros((), storage)
    else:
        flat = np.zeros(like.size, storage)
    return flat.reshape(shape).transpose(np.argsort(order)) if order else flat.reshape(())


def place(storage, on):
    """A copy of an array in the memory of a device."""
    out = room(storage, storage.dtype, on)
    out[...] = storage
    return out


# ------------------------------------------------------------------------------------------------ DLPack (dlpack.h)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


exported = []


def capsule(t):
    n = t.storage.ndim
    managed = DLManagedTensor()
    managed.tensor = DLTensor(t.data_ptr(), 2 if t.is_cuda else 1, 0, n, t.dtype.code, 8 * t.dtype.itemsize, 1,
                              (ctypes.c_int64 * n)(*t.shape), (ctypes.c_int64 * n)(*t.stride()), 0)
    exported.append((managed, t.storage))  # never deleted: the DSL may look at it as long as it likes
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(managed), b"dltensor", None)


# ------------------------------------------------------------------------------------------------ tensors


class Size(tuple):
    def numel(self):
        return math.prod(self)


class Tensor:
    def __init__(self, storage, dtype, on="cpu"):
        self.storage, self.dtype, self.device = storage, dtype, device(on)

    shape = property(lambda self: Size(self.storage.shape))
    is_cuda = property(lambda self: self.device.type == "cuda")
    ndim = property(lambda self: self.storage.ndim)
    T = property(lambda self: Tensor(self.storage.T, self.dtype, self.device))

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        # An axis of length 1 has the stride that a dense tensor would have, as in PyTorch.
        s = [x // self.dtype.itemsize for x in self.storage.strides]
        return tuple(s) if dim is None else s[dim]

    def dim(self):
        return self.storage.ndim

    def numel(self):
        return self.storage.size

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self.storage.ctypes.data

    def is_contiguous(self):
        return self.storage.flags.c_contiguous

    def dim_order(self):
        return tuple(sorted(range(self.ndim), key=lambda i: -self.storage.strides[i]))

    def __dlpack__(self, stream=None):
        return capsule(self)

    def __dlpack_device__(self):
        return (2 if self.is_cuda else 1, 0)

    def values(self):
        """The elements as NumPy's numbers."""
        if self.is_cuda:
            cuda.synchronize()
        return self.dtype.decode[self.storage] if self.dtype.decode is not None else self.storage

    numpy = values

    def to(self, *args, dtype=None, device=None, **ignored):
        for a in args:
            if isinstance(a, torch_dtype):
                dtype = a
            else:
                device = a
        dtype, on = dtype or self.dtype, torch_device(device or self.device)
        if dtype is self.dtype and on == self.device:
            return self
        out = room(self.storage, dtype.storage, on)
        out[...] = self.storage if dtype is self.dtype else stored(self.values(), dtype)
        return Tensor(out, dtype, on)

    def cuda(self):
        return self.to(device="cuda")

    def cpu(self):
        if self.is_cuda:
            cuda.synchronize()
        return self.to(device="cpu")

    def clone(self):
        return Tensor(place(self.storage, self.device), self.dtype, self.device)

    def contiguous(self):
        dense = np.ascontiguousarray(self.storage)
        return self if self.is_contiguous() else Tensor(place(dense, self.device), self.dtype, self.device)

    def copy_(self, other):
        self.storage[...] = other.to(dtype=self.dtype).storage
        return self

    def fill_(self, value):
        self.storage[...] = stored(np.asarray(value), self.dtype)
        return self

    def zero_(self):
        return self.fill_(0)

    def random_(self, low, high):
        return self.fill_(generator.integers(low, high, self.shape))

    def normal_(self, mean=0.0, std=1.0):
        return self.fill_(generator.normal(mean, std, self.shape))

    def uniform_(self, low=0.0, high=1.0):
        return self.fill_(generator.uniform(low, high, self.shape))

    def permute(self, *order):
        order = order[0] if isinstance(order[0], (tuple, list)) else order
        return Tensor(self.storage.transpose(order), self.dtype, self.device)

    def transpose(self, a, b):
        return Tensor(self.storage.swapaxes(a, b), self.dtype, self.device)

    def view(self, *shape, dtype=None):
        if shape and isinstance(shape[0], torch_dtype):
            dtype, shape = shape[0], ()
        if dtype is not None:
            return Tensor(self.storage.view(dtype.storage), dtype, self.device)
        return self.reshape(*shape)

    def reshape(self, *shape):
        shape = shape[0] if isinstance(shape[0], (tuple, list)) else shape
        return Tensor(self.storage.reshape(shape), self.dtype, self.device)

    def squeeze(self, *axis):
        return Tensor(self.storage.squeeze(*axis), self.dtype, self.device)

    def t(self):
        return self.T

    def unsqueeze(self, axis):
        return Tensor(np.expand_dims(self.storage, axis), self.dtype, self.device)

    def expand(self, *shape):
        shape = tuple(n if s == -1 else s for s, n in zip(shape, (1,) * (len(shape) - self.ndim) + self.storage.shape))
        return Tensor(np.broadcast_to(self.storage, shape), self.dtype, self.device)

    def item(self):
        return self.values().item()

    def tolist(self):
        return self.values().tolist()

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, at):
        at = at.values() if isinstance(at, Tensor) else at
        return Tensor(np.asarray(self.storage[at]), self.dtype, self.device)

    def __setitem__(self, at, value):
        self.storage[at] = stored(value.values() if isinstance(value, Tensor) else np.asarray(value), self.dtype)

    def computed(self, values, dtype=None):
        dtype = dtype or self.dtype
        return Tensor(place(stored(np.asarray(values), dtype), self.device), dtype, self.device)

    def __bool__(self):
        return type(True)(self.values().all())

    def __repr__(self):
        return f"tensor({self.values()}, dtype={self.dtype})"

    def float(self):
        return self.to(dtype=float32)

    def half(self):
        return self.to(dtype=float16)

    def sum(self, dim=None, keepdim=False):
        return self.computed(self.values().sum(axis=dim, keepdims=keepdim))

    def mean(self, dim=None, keepdim=False):
        return self.computed(self.values().mean(axis=dim, keepdims=keepdim))

    def abs(self):
        return self.computed(np.abs(self.values()))

    def max(self):
        return self.computed(self.values().max())


def binary(name):
    def apply(self, other):
        mine, other_type = self.values(), getattr(other, "dtype", self.dtype)
        theirs = other.values() if isinstance(other, Tensor) else other
        with np.errstate(all="ignore"):
            result = getattr(np, name)(mine, theirs)
        if result.dtype == np.bool_:
            return Tensor(result, bool, self.device)
        wider = self.dtype if self.dtype.itemsize >= other_type.itemsize else other_type
        return self.computed(result, wider)

    return apply


for python, numpy_name in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"),
                           ("pow", "power"), ("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("gt", "greater"),
                           ("le", "less_equal"), ("ge", "greater_equal")):
    setattr(Tensor, f"__{python}__", binary(numpy_name))
for python in ("add", "mul"):
    setattr(Tensor, f"__r{python}__", getattr(Tensor, f"__{python}__"))
Tensor.__rsub__ = lambda self, other: self.computed(other - self.values())
Tensor.__neg__ = lambda self: self.computed(-self.values())
Tensor.__hash__ = object.__hash__

torch_dtype, torch_device = dtype, device


def stored(values, to):
    if to.decode is not None:
        return encode(np.asarray(values, np.float32), to)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(to.storage)


# ------------------------------------------------------------------------------------------------ making tensors

generator = np.random.default_rng(0)


def manual_seed(seed):
    global generator
    generator = np.random.default_rng(seed)


def shape_of(shape):
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)


def empty(*shape, dtype=None, device=None, size=None, **ignored):
    dtype, on = dtype or float32, torch_device(device or "cpu")
    n = size if size is not None else shape_of(shape)
    return Tensor(room(np.zeros(n, np.bool_), dtype.storage, on), dtype, on)


zeros = empty


def full(size, value, dtype=None, device=None, **ignored):
    return empty(size, dtype=dtype, device=device).fill_(value)


def ones(*shape, **options):
    return empty(*shape, **options).fill_(1)


def empty_like(t, dtype=None, device=None, **ignored):
    on = torch_device(device or t.device)
    return Tensor(room(t.storage, (dtype or t.dtype).storage, on), dtype or t.dtype, on)


zeros_like = empty_like


def ones_like(t, **options):
    return empty_like(t, **options).fill_(1)


def randint(low, high, size, dtype=None, device=None, **ignored):
    return empty(size, dtype=dtype or int64, device=device).random_(low, high)


def randn(*shape, dtype=None, device=None, **ignored):
    return empty(*shape, dtype=dtype, device=device).normal_()


def rand(*shape, dtype=None, device=None, **ignored):
    return empty(*shape, dtype=dtype, device=device).uniform_()


def tensor(values, dtype=None, device=None, **ignored):
    values = np.asarray(values)
    guess = float32 if values.dtype.kind == "f" else bool if values.dtype.kind == "b" else int64
    return Tensor(stored(values, dtype or guess), dtype or guess).to(device=device or "cpu")


def arange(*args, dtype=None, device=None):
    return tensor(np.arange(*args), dtype or int64, device)


def cat(tensors, dim=0):
    return tensors[0].computed(np.concatenate([t.values() for t in tensors], axis=dim))


def stack(tensors, dim=0):
    return tensors[0].computed(np.stack([t.values() for t in tensors], axis=dim))


# ------------------------------------------------------------------------------------------------ operations


def einsum(how, *tensors):
    return tensors[0].computed(np.einsum(how, *(t.values().astype(np.float32) for t in tensors), optimize=True))


def matmul(a, b):
    return a.computed(np.matmul(a.values().astype(np.float32), b.values().astype(np.float32)))


bmm = mm = matmul
Tensor.__matmul__ = matmul


def allclose(a, b, rtol=1e-05, atol=1e-08):
    return np.allclose(np.asarray(a.values(), np.float64), np.asarray(b.values(), np.float64), rtol, atol)


def where(condition, *choice):
    if not choice:
        return tuple(Tensor(i, int64) for i in np.nonzero(condition.values()))
    a, b = (c.values() if isinstance(c, Tensor) else c for c in choice)
    return choice[0].computed(np.where(condition.values(), a, b))


def softmax(t, dim=-1):
    e = np.exp(t.values() - t.values().max(axis=dim, keepdims=True))
    return t.computed(e / e.sum(axis=dim, keepdims=True))


def logsumexp(t, dim=-1):
    top = t.values().max(axis=dim, keepdims=True)
    return t.computed((np.log(np.exp(t.values() - top).sum(axis=dim, keepdims=True)) + top).squeeze(dim))


def unary(name):
    return lambda t, *args, **kw: t.computed(getattr(np, name)(t.values(), *args, **kw))


abs, sqrt, exp, mean = unary("abs"), unary("sqrt"), unary("exp"), unary("mean")


def assert_close(actual, expected, atol=1e-05, rtol=1.3e-06, **ignored):
    a, b = np.asarray(actual.values(), np.float64), np.asarray(expected.values(), np.float64)
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
    off = ~(np.abs(a - b) <= atol + rtol * np.abs(b))
    if off.any():
        at = np.unravel_index(np.argmax(off), off.shape)
        raise AssertionError(f"{off.sum()} of {off.size} elements are not close: {at} is {a[at]}, not {b[at]}")


testing = types.SimpleNamespace(assert_close=assert_close)


class Stream:
    cuda_stream = 0

    def synchronize(self):
        cuda.synchronize()


class Event:
    """Takes no time: the emulator's is not a GPU's."""

    def __init__(self, **ignored):
        pass

    def record(self, stream=None):
        pass

    def synchronize(self):
        cuda.synchronize()

    def elapsed_time(self, other):
        return 1.0


class cuda(types.ModuleType):
    Stream, Event = Stream, Event

    @staticmethod
    def is_available():
        begin()
        return True

    @staticmethod
    def device_count():
        return 1

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def current_stream(device=None):
        return Stream()

    default_stream = current_stream

    @staticmethod
    def synchronize(device=None):
        check(driver.cuCtxSynchronize())

    @staticmethod
    def get_device_capability(device=None):
        return (10, 0)
