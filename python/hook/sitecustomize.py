"""What Python does first under sm100emu, whose launcher puts this folder into PYTHONPATH.

The package cuda-bindings brings a CUDA runtime of its own, linked into it, which talks to NVIDIA's driver alone. Its
modules hand each other C functions in capsules, by name: after the import of the module that has them, the capsule of
each function that the emulator's libcudart has holds that function instead. Nothing else changes, and no file does.

The Python environment's own sitecustomize, if there is one, is run as well.
"""

import importlib.machinery
import importlib.util
import os
import sys

# The module that hands out the runtime's functions, by the version of cuda-bindings: 13, and 12.
MODULES = ("cuda.bindings._internal.runtime", "cuda.bindings.cyruntime")
MAJORS = ("12", "13")
LIBRARY = "libcudart.so.{}"


def functions_of(ctypes, major):
    """A function from the runtime's names to addresses in the emulator, 0 for one that it does not have."""
    library = LIBRARY.format(major)
    handle = ctypes.CDLL(library)._handle
    find = ctypes.CDLL(None).dlvsym
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
    return lambda name: find(handle, name.encode(), library.encode()) or 0


def redirect(module):
    """Puts the emulator's functions into the capsules of `module`. ImportError: there are none to put."""
    import cuda.bindings

    version = cuda.bindings.__version__
    if version.split(".")[0] not in MAJORS:
        raise ImportError(f"cuda-bindings {version} does not run on sm100emu: install version {' or '.join(MAJORS)}")
    try:
        import ctypes  # a Python may be built without it, and most programs need none
    except ImportError as error:
        raise ImportError(f"cuda-bindings does not run on sm100emu in a Python without ctypes: {error}") from error
    api = ctypes.pythonapi
    api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_void_p, [ctypes.py_object]
    address_of = functions_of(ctypes, version.split(".")[0])
    capsules = module.__pyx_capi__
    for name, old in list(capsules.items()):
        address = address_of(name.lstrip("_")) if name.lstrip("_").startswith("cuda") else 0
        if address:  # the capsule's name, which is the function's type, belongs to the module's code: it stays
            capsules[name] = api.PyCapsule_New(address, api.PyCapsule_GetName(old), None)


class Redirecting(importlib.machinery.ExtensionFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        redirect(module)


class Finder:
    """Finds the modules of MODULES as Python would, and has them redirected."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in MODULES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
            spec.loader = Redirecting(spec.loader.name, spec.loader.path)
        return spec


def run_next():
    """The sitecustomize that Python would have run without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, Finder)
run_next()
