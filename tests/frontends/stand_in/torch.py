"""Stands in for `import torch` in Triton's tutorials and examples, so that their files run as they are.

A tensor is a NumPy array in managed memory, which the host and the emulated GPU share by address; bfloat16 and the 8-bit
floats are those of ml_dtypes. There is what these programs use and no more: an attribute that is not here is an
AttributeError with its name. Products are summed in float32, as a reference wants.
"""

import builtins
import contextlib
import ctypes
import sys
import types
import weakref

import ml_dtypes
import numpy as np

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


def _allocate(shape, dtype):
    """An array of zeros in managed memory, which is freed with it."""
    count = builtins.int(np.prod(shape, dtype=np.int64))
    size, address = builtins.max(count * dtype.itemsize, 16), ctypes.c_void_p()
    _call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(size), 1)
    ctypes.memset(address.value, 0, size)
    block = (ctypes.c_byte * size).from_address(address.value)
    # not at exit, when the interpreter may still hold what lies there
    weakref.finalize(block, _cuda.cuMemFree_v2, ctypes.c_uint64(address.value)).atexit = False
    return np.frombuffer(block, dtype=dtype, count=count).reshape(shape)


class device:
    def __init__(self, kind="cuda", index=0):
        self.type, self.index = str(kind).split(":")[0], index

    def __eq__(self, other):
        return self.type == device(other).type

    def __str__(self):
        return self.type

    __hash__ = object.__hash__


class _Properties:
    name = "emulated B200"

    def __init__(self):
        self.multi_processor_count = _attribute(16)
        self.shared_memory_per_block_optin = _attribute(97)
        self.regs_per_multiprocessor = _attribute(82)
        self.major, self.minor = _attribute(75), _attribute(76)
        self.warp_size = 32
        self.total_memory = 8 << 30


class _Stream:
    cuda_stream = 0


cuda = types.ModuleType("torch.cuda")
cuda.is_available = lambda: True
cuda.current_device = lambda: 0
cuda.device_count = lambda: 1
cuda.set_device = lambda index: None
cuda.current_stream = lambda index=None: _Stream
cuda.synchronize = lambda *a: _call("cuCtxSynchronize")
cuda.get_device_properties = lambda index=None: _Properties()
cuda.get_device_capability = lambda index=None: (_attribute(75), _attribute(76))
cuda.get_device_name = lambda index=None: _Properties.name
cuda.empty_cache = lambda: None
version = types.SimpleNamespace(hip=None, cuda="13.0")

# ---------------------------------------------------------------- types


class dtype:
    def __init__(self, name, numpy):
        self.name, self.numpy = name, np.dtype(numpy)
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = name.startswith(("float", "bfloat"))

    def __str__(self):
        return "torch." + self.name

    __repr__ = __str__


dtype.__module__ = "torch"
_types = [dtype(n, getattr(np, n)) for n in "float16 float32 float64 uint8 int8 int16 int32 int64".split()]
_types += [dtype(n, getattr(ml_dtypes, n)) for n in "bfloat16 float8_e4m3fn float8_e5m2 float8_e8m0fnu".split()]
_types.append(dtype("bool", np.bool_))
_by_numpy = {t.numpy: t for t in _types}
globals().update({t.name: t for t in _types if t.name != "bool"})
_bool = _types[-1]
half, float, int, long, double = float16, float32, int32, int64, float64  # noqa: F821 (made above)
finfo = lambda t: ml_dtypes.finfo(t.numpy)  # noqa: E731


class Size(tuple):
    def numel(self):
        return _count(self)


def _count(shape):
    n = 1
    for s in shape:
        n *= s
    return n


# ---------------------------------------------------------------- tensors


def _raw(x):
    return x.a if isinstance(x, Tensor) else x


def _wide(a):
    """NumPy sums and multiplies floats of 8 and 16 bits in their own type, or not at all."""
    narrow = isinstance(a, np.ndarray) and a.dtype.itemsize <= 2 and _by_numpy[a.dtype].is_floating_point
    return a.astype(np.float32) if narrow else a


def _shape(args):
    return tuple(args[0]) if len(args) == 1 and not np.isscalar(args[0]) else tuple(args)


class Tensor:
    def __init__(self, a):
        self.a = a
        self.requires_grad, self.grad = False, None

    # -- what Triton asks for
    dtype = property(lambda self: _by_numpy[self.a.dtype])
    device = property(lambda self: device("cuda"))
    is_cuda = True
    shape = property(lambda self: Size(self.a.shape))
    ndim = property(lambda self: self.a.ndim)
    T = property(lambda self: Tensor(self.a.T))
    mT = property(lambda self: Tensor(np.swapaxes(self.a, -1, -2)))
    data = property(lambda self: self)

    def data_ptr(self):
        return self.a.__array_interface__["data"][0]

    def stride(self, dim=None):
        strides = tuple(s // self.a.itemsize for s in self.a.strides)
        return strides if dim is None else strides[dim]

    def size(self, dim=None):
        return self.shape if dim is None else self.a.shape[dim]

    def dim(self):
        return self.a.ndim

    def numel(self):
        return self.a.size

    def element_size(self):
        return self.a.itemsize

    def is_contiguous(self):
        return self.a.flags.c_contiguous

    # -- other forms of the same bytes
    def view(self, *args):
        if isinstance(args[0], dtype):
            return Tensor(self.a.view(args[0].numpy))
        return self.reshape(*args)

    def reshape(self, *args):
        return Tensor(self.a.reshape(_shape(args)))

    def permute(self, *args):
        return Tensor(self.a.transpose(_shape(args)))

    def transpose(self, i, j):
        return Tensor(np.swapaxes(self.a, i, j))

    def t(self):
        return self.T

    def squeeze(self, dim=None):
        return Tensor(np.squeeze(self.a, dim))

    def unsqueeze(self, dim):
        return Tensor(np.expand_dims(self.a, dim))

    def select(self, dim, index):
        return Tensor(np.take(self.a, [index], dim)).squeeze(dim)

    def flatten(self):
        return self.reshape(-1)

    def expand(self, *args):
        return Tensor(np.broadcast_to(self.a, _shape(args)))

    def detach(self):
        return self

    # -- copies
    def contiguous(self):
        return self if self.is_contiguous() else self.clone()

    def clone(self):
        return tensor(self.a)

    def to(self, *args, dtype=None, **ignored):
        kind = dtype or next((x for x in args if isinstance(x, globals()["dtype"])), self.dtype)
        return self if kind is self.dtype else tensor(_wide(self.a).astype(kind.numpy))

    type = to

    def float(self):
        return self.to(float32)  # noqa: F821

    def half(self):
        return self.to(float16)  # noqa: F821

    def long(self):
        return self.to(int64)  # noqa: F821

    def cpu(self):
        return self

    def cuda(self):
        return self

    def numpy(self):
        return self.a

    def tolist(self):
        return self.a.tolist()

    def item(self):
        return self.a.item()

    def copy_(self, other):
        self.a[...] = _raw(other)
        return self

    def fill_(self, value):
        self.a[...] = value
        return self

    def zero_(self):
        return self.fill_(0)

    def normal_(self, mean=0.0, std=1.0):
        return self.copy_(_random.normal(mean, std, self.a.shape))

    def random_(self, low, high):
        return self.copy_(_random.integers(low, high, self.a.shape))

    def backward(self, dy, retain_graph=False):
        for x, gradient in zip(*self.backward_of(dy)):
            if isinstance(x, Tensor) and x.requires_grad:
                x.grad = gradient

    def requires_grad_(self, on=True):
        self.requires_grad = on
        return self

    def masked_fill(self, mask, value):
        return tensor(np.where(_raw(mask), np.asarray(value, self.a.dtype), self.a))

    def clamp_min(self, low):
        return tensor(np.maximum(self.a, low))

    def repeat(self, *args):
        return tensor(np.tile(self.a, _shape(args)))

    def repeat_interleave(self, times, dim=None):
        return tensor(np.repeat(self.a, times, dim))

    # -- arithmetic
    def _reduce(self, f, dim, keepdim):
        return tensor(f(_wide(self.a), axis=dim, keepdims=keepdim), dtype=None if f is np.any else self.dtype)

    def sum(self, dim=None, keepdim=False):
        return self._reduce(np.sum, dim, keepdim)

    def mean(self, dim=None, keepdim=False):
        return self._reduce(np.mean, dim, keepdim)

    def max(self, dim=None, keepdim=False):
        values = self._reduce(np.max, dim, keepdim)
        return values if dim is None else (values, argmax(self, dim))

    def any(self):
        return tensor(np.any(self.a))

    def all(self):
        return tensor(np.all(self.a))

    def abs(self):
        return tensor(np.abs(_wide(self.a)), dtype=self.dtype)

    def cumsum(self, dim):
        return tensor(np.cumsum(self.a, dim))

    def __matmul__(self, other):
        return matmul(self, other)

    def __getitem__(self, key):
        key = tuple(_raw(k) for k in key) if isinstance(key, tuple) else _raw(key)
        found = self.a[key]
        return Tensor(found) if isinstance(found, np.ndarray) and found.base is not None else tensor(found)

    def __setitem__(self, key, value):
        key = tuple(_raw(k) for k in key) if isinstance(key, tuple) else _raw(key)
        self.a[key] = _raw(value)

    def __len__(self):
        return len(self.a)

    def __iter__(self):
        return (self[i] for i in range(len(self.a)))

    def __bool__(self):
        return builtins.bool(self.a)

    def __float__(self):
        return self.a.item() + 0.0

    def __int__(self):
        return builtins.int(self.a.item())

    def __index__(self):
        return self.a.item()

    __hash__ = object.__hash__

    def __repr__(self):
        return "tensor(%s, %s)" % (self.a, self.dtype)

    @classmethod
    def __torch_function__(cls, *args):
        raise NotImplementedError


def _operator(name, f, reflected=False):
    def apply(self, other):
        x, y = _wide(self.a), _wide(_raw(other))
        if reflected:
            x, y = y, x
        result = f(x, y)
        same = self.dtype.is_floating_point and result.dtype.kind == "f"
        return tensor(result, dtype=self.dtype if same else None)
    setattr(Tensor, name, apply)


for _name, _f in dict(add=np.add, sub=np.subtract, mul=np.multiply, truediv=np.true_divide, floordiv=np.floor_divide,
                      mod=np.mod, pow=np.power, and_=np.bitwise_and, or_=np.bitwise_or, lshift=np.left_shift,
                      rshift=np.right_shift, xor=np.bitwise_xor).items():
    _operator("__%s__" % _name.rstrip("_"), _f)
    _operator("__r%s__" % _name.rstrip("_"), _f, reflected=True)
for _name in "eq ne lt le gt ge".split():
    _operator("__%s__" % _name, {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
                                 "gt": np.greater, "ge": np.greater_equal}[_name])
Tensor.__neg__ = lambda self: tensor(-self.a)
Tensor.__invert__ = lambda self: tensor(~self.a)

nan, inf = builtins.float("nan"), builtins.float("inf")

# ---------------------------------------------------------------- functions

_random = np.random.default_rng(0)


def manual_seed(seed):
    global _random
    _random = np.random.default_rng(seed)


def tensor(data, dtype=None, **ignored):
    a = np.asarray([_raw(x) for x in data] if isinstance(data, (list, tuple)) else _raw(data))
    if dtype is None and a.dtype == np.float64:
        dtype = float32  # noqa: F821
    kind = dtype or _by_numpy[a.dtype]
    made = Tensor(_allocate(a.shape, kind.numpy))
    made.a[...] = a.astype(kind.numpy)
    return made


def _maker(fill):
    def make(*shape, dtype=None, device=None, **ignored):
        if "size" in ignored:
            shape = ignored["size"]
            shape = (shape,)
        kind = dtype or float32  # noqa: F821
        made = Tensor(_allocate(_shape(shape), kind.numpy))
        made.requires_grad = ignored.get("requires_grad", False)
        if fill:
            made.a[...] = np.asarray(fill(made.a.shape)).astype(kind.numpy)
        return made
    return make


def _like(maker):
    return lambda x, dtype=None, **ignored: maker(x.shape, dtype=dtype or x.dtype)


empty, zeros, ones = _maker(None), _maker(None), _maker(np.ones)
rand, randn = _maker(lambda s: _random.random(s)), _maker(lambda s: _random.standard_normal(s))
empty_like, zeros_like, ones_like, rand_like, randn_like = map(_like, (empty, zeros, ones, rand, randn))


def full(shape, value, dtype=None, **ignored):
    return _maker(None)(shape, dtype=dtype).fill_(value)


def randint(low, high=None, size=None, dtype=None, **ignored):
    if size is None:
        low, high, size = 0, low, high
    return tensor(_random.integers(low, high, tuple(size)), dtype=dtype or int64)  # noqa: F821


def randperm(n, **ignored):
    return tensor(_random.permutation(n))


def arange(*args, dtype=None, **ignored):
    return tensor(np.arange(*args), dtype=dtype)


def linspace(low, high, steps, dtype=None, **ignored):
    return tensor(np.linspace(low, high, steps), dtype=dtype or float32)  # noqa: F821


def matmul(a, b):
    return tensor(np.matmul(_wide(a.a), _wide(b.a)), dtype=a.dtype)


mm = bmm = matmul


def where(condition, a, b):
    return tensor(np.where(_raw(condition), _raw(a), _raw(b)))


def softmax(x, dim=-1, axis=None, dtype=None):
    w = _wide(x.a)
    e = np.exp(w - w.max(dim, keepdims=True))
    return tensor(e / e.sum(dim, keepdims=True), dtype=x.dtype)


def argmax(x, dim=None):
    return tensor(np.argmax(_raw(x), dim))


def argmin(x, dim=None):
    return tensor(np.argmin(_raw(x), dim))


def stack(parts, dim=0):
    return tensor(np.stack([p.a for p in parts], dim))


def cat(parts, dim=0):
    return tensor(np.concatenate([p.a for p in parts], dim))


def tril(x, diagonal=0):
    return tensor(np.tril(x.a, diagonal))


def _unary(f):
    return lambda x: tensor(f(_wide(_raw(x))), dtype=x.dtype)


exp, log, abs, asin, sqrt, log2, exp2 = map(_unary, (np.exp, np.log, np.abs, np.arcsin, np.sqrt, np.log2, np.exp2))
floor, ceil, round = map(_unary, (np.floor, np.ceil, np.rint))
signbit, isnan, isinf = [lambda x, f=f: tensor(f(_wide(x.a))) for f in (np.signbit, np.isnan, np.isinf)]


def clamp(x, low=None, high=None):
    return tensor(np.clip(_wide(x.a), low, high), dtype=x.dtype)


def maximum(a, b):
    return tensor(np.maximum(_raw(a), _raw(b)))


def pow(a, b):
    return tensor(np.power(_raw(a), _raw(b)))


def max(x, dim=None, keepdim=False):
    return x.max(dim, keepdim)


def min(x, dim=None, keepdim=False):
    values = x._reduce(np.min, dim, keepdim)
    return values if dim is None else (values, argmin(x, dim))


def sum(x, dim=None, keepdim=False):
    return x.sum(dim, keepdim)


def equal(a, b):
    return np.array_equal(_raw(a), _raw(b))


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.allclose(_wide(_raw(a)), _wide(_raw(b)), rtol, atol, equal_nan)


# By torch's type of result: relative, absolute.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def assert_close(actual, expected, rtol=None, atol=None, **ignored):
    r, t = _TOLERANCES.get(actual.dtype.name, (0, 0))
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    np.testing.assert_allclose(_wide(actual.a), _wide(expected.a), r if rtol is None else rtol,
                               t if atol is None else atol)


def _layer_norm(x, shape, weight, bias, eps):
    w = _wide(x.a)
    rstd = 1 / np.sqrt(w.var(-1, keepdims=True) + eps)
    normal = (w - w.mean(-1, keepdims=True)) * rstd
    y = tensor(normal * _wide(weight.a) + _wide(bias.a), dtype=x.dtype)

    def backward_of(dy):
        d = _wide(dy.a)
        g = d * _wide(weight.a)
        dx = rstd * (g - g.mean(-1, keepdims=True) - normal * (g * normal).mean(-1, keepdims=True))
        return (x, weight, bias), [tensor(a, dtype=x.dtype) for a in (dx, (d * normal).sum(0), d.sum(0))]

    y.backward_of = backward_of
    return y


def _attention(q, k, v, scale, is_causal=False, enable_gqa=False):
    scores = np.matmul(_wide(q.a), np.swapaxes(_wide(k.a), -1, -2)) * scale
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:])), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return tensor(np.matmul(e / e.sum(-1, keepdims=True), _wide(v.a)), dtype=q.dtype)


def _pad(x, sizes, mode="constant", value=0):
    pairs = [(0, 0)] * (x.ndim - len(sizes) // 2) + list(zip(sizes[::2], sizes[1::2]))[::-1]
    return tensor(np.pad(x.a, pairs, constant_values=value))


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
jit = types.SimpleNamespace(script=lambda f: f)
no_grad = contextlib.nullcontext
inference_mode = lambda *a: contextlib.nullcontext()  # noqa: E731
for _module in cuda, testing, nn, nn.functional:
    sys.modules[_module.__name__] = _module
bool = _bool
