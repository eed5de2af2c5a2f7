"""Stands in for `import torch` in tutorials and examples of Triton and CuTe DSL, so that their files run as they are.

A tensor is a NumPy array in managed memory, which the host and the emulated GPU share by address, and the name of a
device. bfloat16 and the 8-bit floats are those of ml_dtypes. Without that package they have names alone, and NumPy
refuses to compute with them. The host computes, behind cuCtxSynchronize if the device is "cuda". There is what the
programs of docs/conformance.md use and no more: an attribute that is not here is an AttributeError with its name.
Products are summed in float32, as a reference wants.
"""

import builtins
import ctypes
import math
import sys
import types
import weakref

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# ---------------------------------------------------------------- the device

_cuda = ctypes.CDLL("libcuda.so.1")


def _call(name, *args):
    code = getattr(_cuda, name)(*args)
    if code:
        raise RuntimeError("%s: error %d" % (name, code))


def _start():
    context = ctypes.c_void_p()
    _call("cuInit", 0)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    _call("cuCtxSetCurrent", context)


_start()


def _attribute(number):
    value = ctypes.c_int()
    _call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
    return value.value


def _allocate(shape, kind):
    """An array of zeros in managed memory, which is freed with it."""
    count = math.prod(shape)
    size, address = builtins.max(count * kind.itemsize, 16), ctypes.c_void_p()
    _call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(size), 1)
    ctypes.memset(address.value, 0, size)
    block = (ctypes.c_byte * size).from_address(address.value)
    # not at exit, when the interpreter may still hold what lies there
    weakref.finalize(block, _cuda.cuMemFree_v2, ctypes.c_uint64(address.value)).atexit = False
    return np.frombuffer(block, dtype=kind, count=count).reshape(shape)


class device:
    def __init__(self, kind="cuda", index=0):
        self.type, self.index = getattr(kind, "type", str(kind)).split(":")[0], index

    def __eq__(self, other):
        return self.type == device(other).type

    def __str__(self):
        return self.type

    def __repr__(self):
        return "device(type='%s')" % self.type

    __hash__ = object.__hash__


class _Properties:
    name = "emulated B200"

    def __init__(self):
        self.multi_processor_count, self.shared_memory_per_block_optin = _attribute(16), _attribute(97)
        self.regs_per_multiprocessor, self.major, self.minor = _attribute(82), _attribute(75), _attribute(76)
        self.warp_size, self.total_memory = 32, 8 << 30


def _synchronize(*ignored):
    _call("cuCtxSynchronize")


class _Stream:
    cuda_stream = 0
    synchronize = _synchronize


class _Event:
    """Takes no time: the emulator's is not a GPU's."""

    synchronize = _synchronize

    def __init__(self, **ignored):
        pass

    def record(self, stream=None):
        pass

    def elapsed_time(self, other):
        return 1.0


cuda = types.ModuleType("torch.cuda")
cuda.Event = _Event
cuda.is_available = lambda: True
cuda.current_device = lambda: 0
cuda.set_device = lambda index: None
cuda.current_stream = cuda.default_stream = lambda index=None: _Stream()
cuda.synchronize = _synchronize
cuda.get_device_properties = lambda index=None: _Properties()
cuda.get_device_capability = lambda index=None: (_attribute(75), _attribute(76))
version = types.SimpleNamespace(hip=None, cuda="13.0")

# ---------------------------------------------------------------- types


class dtype:
    def __init__(self, name, numpy):
        self.name, self.numpy = name, np.dtype(numpy)
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = name.startswith(("float", "bfloat"))
        self.is_signed = self.is_floating_point or self.numpy.kind == "i"

    def __str__(self):
        return "torch." + self.name

    __repr__ = __str__


dtype.__module__ = "torch"
_types = [dtype(n, getattr(np, n)) for n in "float16 float32 float64 uint8 uint32 int8 int16 int32 int64".split()]
_small = "bfloat16 float8_e4m3fn float8_e5m2 float8_e8m0fnu".split()
if ml_dtypes:
    _types += [dtype(n, getattr(ml_dtypes, n)) for n in _small]
_types.append(dtype("bool", np.bool_))
_by_numpy = {t.numpy: t for t in _types}
# CuTe DSL looks these names up; their elements are bytes here.
_types[:0] = [dtype(n, np.uint8) for n in ("float8_e4m3fnuz", "float4_e2m1fn_x2")]
if not ml_dtypes:
    _types[:0] = [dtype(n, "V2" if n == "bfloat16" else "V1") for n in _small]
globals().update({t.name: t for t in _types if t.name != "bool"})
_bool, _dtype, _device = _types[-1], dtype, device
half, float, int, long, double = float16, float32, int32, int64, float64  # noqa: F821 (made above)
finfo = lambda t: (ml_dtypes or np).finfo(t.numpy)  # noqa: E731


class Size(tuple):
    def numel(self):
        return math.prod(self)


# ---------------------------------------------------------------- DLPack (dlpack.h)


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]  # DLManagedTensor


_exported = []


def _capsule(t):
    code = {"bfloat16": 4, "bool": 6}.get(t.dtype.name, {"i": 0, "f": 2}.get(t.dtype.numpy.kind, 1))
    axes = ctypes.c_int64 * t.ndim
    managed = _DLTensor(t.data_ptr(), t.__dlpack_device__()[0], 0, t.ndim, code, 8 * t.dtype.itemsize, 1,
                        axes(*t.shape), axes(*t.stride()), 0)
    _exported.append((managed, t.a))  # never deleted: the DSL may look at it as long as it likes
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(managed), b"dltensor", None)


# ---------------------------------------------------------------- tensors


def _raw(x):
    return x.values() if isinstance(x, Tensor) else x


def _wide(a):
    """NumPy sums and multiplies floats of 8 and 16 bits in their own type, or not at all."""
    a = _raw(a)
    narrow = isinstance(a, np.ndarray) and a.dtype.itemsize <= 2 and _by_numpy[a.dtype].is_floating_point
    return a.astype(np.float32) if narrow else a


def _shape(args):
    return tuple(args[0]) if len(args) == 1 and not np.isscalar(args[0]) else tuple(args)


def _room(like, kind, on):
    """A tensor of zeros, dense, with the axes of the array `like` in the order of its strides."""
    order = sorted(range(like.ndim), key=lambda i: -like.strides[i])
    flat = _allocate([like.shape[i] for i in order], kind.numpy)
    return Tensor(flat.transpose(np.argsort(order)) if order else flat, on)


def _made(values, kind=None, on="cpu"):
    """A tensor of these values; double precision is made single where no type is asked for."""
    a = np.asarray(values)
    kind = kind or (float32 if a.dtype == np.float64 else _by_numpy[a.dtype])  # noqa: F821
    made = _room(a, kind, on)
    with np.errstate(all="ignore"):
        made.a[...] = a.astype(kind.numpy)
    return made


class Tensor:
    def __init__(self, a, on="cpu"):
        self.a, self.device = a, device(on)
        self.requires_grad, self.grad = False, None

    # -- what the front ends ask for
    dtype = property(lambda self: _by_numpy[self.a.dtype])
    is_cuda = property(lambda self: self.device.type == "cuda")
    shape = property(lambda self: Size(self.a.shape))
    ndim = property(lambda self: self.a.ndim)
    T = property(lambda self: Tensor(self.a.T, self.device))
    mT = property(lambda self: self.transpose(-1, -2))
    data = property(lambda self: self)

    def data_ptr(self):
        return self.a.__array_interface__["data"][0]

    def stride(self, dim=None):
        strides = tuple(s // self.a.itemsize for s in self.a.strides)
        return strides if dim is None else strides[dim]

    def size(self, dim=None):
        return self.shape if dim is None else self.a.shape[dim]

    def numel(self):
        return self.a.size

    def element_size(self):
        return self.a.itemsize

    def is_contiguous(self):
        return self.a.flags.c_contiguous

    def __dlpack__(self, stream=None):
        return _capsule(self)

    def __dlpack_device__(self):
        return (2 if self.is_cuda else 1, 0)

    @classmethod
    def __torch_function__(cls, *args):
        raise NotImplementedError

    # -- other forms of the same bytes
    def view(self, *args, dtype=None):
        kind = dtype or args[0]
        return Tensor(self.a.view(kind.numpy), self.device) if isinstance(kind, _dtype) else self.reshape(*args)

    def t(self):
        return self.T

    def select(self, dim, index):
        return Tensor(np.moveaxis(self.a, dim, 0)[index], self.device)

    # -- copies
    def values(self):
        if self.is_cuda:
            _synchronize()
        return self.a

    numpy = values

    def like(self, values, kind=None):
        """What is computed of this tensor is on its device."""
        return _made(values, kind, self.device)

    def contiguous(self):
        return self if self.is_contiguous() else self.like(np.ascontiguousarray(self.values()))

    def clone(self):
        return self.like(self.values(), self.dtype)

    def to(self, *args, dtype=None, device=None, **ignored):
        for word in args:
            if isinstance(word, Tensor):
                dtype, device = word.dtype, word.device
            elif isinstance(word, _dtype):
                dtype = word
            elif not isinstance(word, builtins.bool):
                device = word
        kind, on = dtype or self.dtype, _device(device or self.device)
        if kind.numpy == self.a.dtype and on == self.device:
            return self
        return _made(self.values() if kind.numpy == self.a.dtype else _wide(self), kind, on)

    type = to

    def float(self):
        return self.to(float32)  # noqa: F821

    def half(self):
        return self.to(float16)  # noqa: F821

    def cpu(self):
        return self.to(device="cpu")

    def cuda(self):
        return self.to(device="cuda")

    def tolist(self):
        return self.values().tolist()

    def item(self):
        return self.values().item()

    def copy_(self, other):
        self.values()[...] = _wide(other)
        return self

    def fill_(self, value):
        return self.copy_(value)

    def normal_(self, mean=0.0, std=1.0):
        return self.copy_(_random.normal(mean, std, self.a.shape))

    def uniform_(self, low=0.0, high=1.0):
        return self.copy_(_random.uniform(low, high, self.a.shape))

    def random_(self, low, high):
        return self.copy_(_random.integers(low, high, self.a.shape))

    def backward(self, dy, retain_graph=False):
        for x, gradient in zip(*self.backward_of(dy)):
            if isinstance(x, Tensor) and x.requires_grad:
                x.grad = gradient

    def requires_grad_(self, on=True):
        self.requires_grad = on
        return self

    # -- arithmetic
    def masked_fill(self, mask, value):
        return self.like(np.where(_raw(mask), np.asarray(value, self.a.dtype), self.values()))

    def abs(self):
        return self.like(np.abs(_wide(self)), self.dtype)

    def __matmul__(self, other):
        return matmul(self, other)

    def __getitem__(self, key):
        key = tuple(_raw(k) for k in key) if isinstance(key, tuple) else _raw(key)
        found = self.a[key]
        shared = isinstance(found, np.ndarray) and found.base is not None
        return Tensor(found, self.device) if shared else self.like(self.values()[key], self.dtype)

    def __setitem__(self, key, value):
        key = tuple(_raw(k) for k in key) if isinstance(key, tuple) else _raw(key)
        self.values()[key] = _wide(value)

    def __len__(self):
        return len(self.a)

    def __iter__(self):
        return (self[i] for i in range(len(self.a)))

    def __bool__(self):
        return builtins.bool(self.values())

    def __float__(self):
        return self.item() + 0.0

    def __int__(self):
        return builtins.int(self.item())

    def __index__(self):
        return self.item()

    __hash__ = object.__hash__

    def __repr__(self):
        return "tensor(%s, dtype=%s)" % (self.values(), self.dtype)


# The same bytes in another form; values computed of the tensor's; sums and the like, of one axis if it is named.
_VIEWS = dict(reshape=lambda a, *shape: a.reshape(_shape(shape)), permute=lambda a, *axes: a.transpose(_shape(axes)),
              transpose=np.swapaxes, flatten=np.ravel)
_VALUES = dict(any=np.any, all=np.all, clamp_min=np.maximum, tril=lambda a, diagonal=0: np.tril(a, diagonal),
               repeat_interleave=lambda a, times, dim=None: np.repeat(a, times, dim),
               argmax=lambda a, dim=None: np.argmax(a, dim))


def _reduction(f, index=None):
    def reduce(self, dim=None, keepdim=False):
        values = self.like(f(_wide(self), axis=dim, keepdims=keepdim), self.dtype)
        return values if dim is None or not index else (values, index(self, dim))
    return reduce


for _name, _f in _VIEWS.items():
    setattr(Tensor, _name, lambda self, *args, f=_f, **options: Tensor(f(self.a, *args, **options), self.device))
for _name, _f in _VALUES.items():
    setattr(Tensor, _name, lambda self, *args, f=_f, **options: self.like(f(self.values(), *args, **options)))
Tensor.sum, Tensor.mean = _reduction(np.sum), _reduction(np.mean)
Tensor.max = _reduction(np.max, Tensor.argmax)


def _operator(name, f, reflected=False):
    def apply(self, other):
        x, y = _wide(self), _wide(other)
        if reflected:
            x, y = y, x
        with np.errstate(all="ignore"):
            result = f(x, y)
        kind, theirs = self.dtype, getattr(other, "dtype", None)
        if isinstance(theirs, _dtype) and theirs.itemsize > kind.itemsize:
            kind = theirs
        return self.like(result, kind if kind.is_floating_point and result.dtype.kind == "f" else None)
    setattr(Tensor, "__%s__" % name, apply)


for _name, _f in dict(add=np.add, sub=np.subtract, mul=np.multiply, truediv=np.true_divide, floordiv=np.floor_divide,
                      mod=np.mod, pow=np.power, lshift=np.left_shift, rshift=np.right_shift, xor=np.bitwise_xor,
                      **{"and": np.bitwise_and, "or": np.bitwise_or}).items():
    _operator(_name, _f)
    _operator("r" + _name, _f, reflected=True)
for _name, _f in dict(eq=np.equal, ne=np.not_equal, lt=np.less, le=np.less_equal, gt=np.greater,
                      ge=np.greater_equal).items():
    _operator(_name, _f)
Tensor.__neg__ = lambda self: self.like(-self.values())
Tensor.__invert__ = lambda self: self.like(~self.values())

# ---------------------------------------------------------------- making tensors

_random = np.random.default_rng(0)


def manual_seed(seed):
    global _random
    _random = np.random.default_rng(seed)


def tensor(data, dtype=None, device=None, **ignored):
    values = [_raw(x) for x in data] if isinstance(data, (list, tuple)) else _raw(data)
    return _made(values, dtype, device or "cpu")


def _maker(fill):
    def make(*shape, dtype=None, device=None, size=None, requires_grad=False, **ignored):
        shape = _shape(shape if size is None else (size,))
        made = Tensor(_allocate(shape, (dtype or float32).numpy), device or "cpu")  # noqa: F821
        return fill(made.requires_grad_(requires_grad))
    return make


def _like(fill):
    return lambda t, dtype=None, device=None, **ignored: fill(_room(t.a, dtype or t.dtype, device or t.device))


_fills = dict(empty=lambda t: t, zeros=lambda t: t, ones=lambda t: t.fill_(1), rand=Tensor.uniform_,
              randn=Tensor.normal_)
for _name, _f in _fills.items():
    globals().update({_name: _maker(_f), _name + "_like": _like(_f)})


def full(size, value, **options):
    return empty(size, **options).fill_(value)  # noqa: F821


def randint(low, high=None, size=None, dtype=None, device=None, **ignored):
    if size is None:
        low, high, size = 0, low, high
    return _made(_random.integers(low, high, tuple(size)), dtype or int64, device or "cpu")  # noqa: F821


def arange(*args, dtype=None, device=None, **ignored):
    return _made(np.arange(*args), dtype, device or "cpu")


# ---------------------------------------------------------------- functions


def matmul(a, b):
    return a.like(np.matmul(_wide(a), _wide(b)), a.dtype)


mm = bmm = matmul


def einsum(how, *parts):
    return parts[0].like(np.einsum(how, *(_wide(p) for p in parts), optimize=True), parts[0].dtype)


def where(condition, *choice):
    if not choice:
        return tuple(_made(i) for i in np.nonzero(_raw(condition)))
    return condition.like(np.where(_raw(condition), *(_raw(c) for c in choice)))


def softmax(x, dim=-1, axis=None, dtype=None):
    w = _wide(x)
    e = np.exp(w - w.max(dim, keepdims=True))
    return x.like(e / e.sum(dim, keepdims=True), x.dtype)


def _unary(f):
    return lambda x: x.like(f(_wide(x)), x.dtype)


log2, floor = _unary(np.log2), _unary(np.floor)
isnan, isinf = [lambda x, f=f: x.like(f(_wide(x))) for f in (np.isnan, np.isinf)]
abs, max, tril = Tensor.abs, Tensor.max, Tensor.tril


def clamp(x, low=None, high=None):
    return x.like(np.clip(_wide(x), low, high), x.dtype)


def pow(a, b):
    return (a if isinstance(a, Tensor) else b).like(np.power(_raw(a), _raw(b)))


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.allclose(_wide(a), _wide(b), rtol, atol, equal_nan)


# By torch's type of result: relative, absolute.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def assert_close(actual, expected, rtol=None, atol=None, **ignored):
    r, t = _TOLERANCES.get(actual.dtype.name, (0, 0))
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    np.testing.assert_allclose(_wide(actual), _wide(expected), r if rtol is None else rtol, t if atol is None else atol)


def _layer_norm(x, shape, weight, bias, eps):
    w = _wide(x)
    rstd = 1 / np.sqrt(w.var(-1, keepdims=True) + eps)
    normal = (w - w.mean(-1, keepdims=True)) * rstd
    y = x.like(normal * _wide(weight) + _wide(bias), x.dtype)

    def backward_of(dy):
        d = _wide(dy)
        g = d * _wide(weight)
        dx = rstd * (g - g.mean(-1, keepdims=True) - normal * (g * normal).mean(-1, keepdims=True))
        return (x, weight, bias), [x.like(a, x.dtype) for a in (dx, (d * normal).sum(0), d.sum(0))]

    y.backward_of = backward_of
    return y


def _attention(q, k, v, scale, is_causal=False, enable_gqa=False):
    scores = np.matmul(_wide(q), np.swapaxes(_wide(k), -1, -2)) * scale
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:])), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return q.like(np.matmul(e / e.sum(-1, keepdims=True), _wide(v)), q.dtype)


def _pad(x, sizes, mode="constant", value=0):
    pairs = [(0, 0)] * (x.ndim - len(sizes) // 2) + list(zip(sizes[::2], sizes[1::2]))[::-1]
    return x.like(np.pad(_raw(x), pairs, constant_values=value))


class _Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


class _Function:
    @classmethod
    def apply(cls, *args):
        context = _Context()
        y = cls.forward(context, *args)
        y.backward_of = lambda dy: (args, cls.backward(context, dy))
        return y


testing = types.ModuleType("torch.testing")
testing.assert_close = assert_close
nn = types.ModuleType("torch.nn")
nn.functional = types.ModuleType("torch.nn.functional")
nn.functional.scaled_dot_product_attention = _attention
nn.functional.layer_norm, nn.functional.pad, nn.functional.softmax = _layer_norm, _pad, softmax
autograd = types.SimpleNamespace(Function=_Function)
for _module in cuda, testing, nn, nn.functional:
    sys.modules[_module.__name__] = _module
bool = _bool
