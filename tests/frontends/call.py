"""call.py FILE FUNCTION [NAME=VALUE ...]: calls a function of one of Triton's tutorials or examples with arguments of our own,
since the sizes that its tests take are a GPU's. VALUE is a Python expression, in which the file's names and the arguments
before it are known. `expect=VALUE` is no argument, but what the function returns. FILE runs as it is otherwise, as in
tutorial.py.
"""

import importlib.util
import os
import sys

from tutorial import prepare

file, function, *words = sys.argv[1:]
prepare()
sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
spec = importlib.util.spec_from_file_location("called", file)
module = sys.modules["called"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
arguments = {}
for name, value in (word.split("=", 1) for word in words):
    arguments[name] = eval(value, {**vars(module), **arguments})
expected = arguments.pop("expect", None)
called = getattr(module, function)
result = getattr(called, "__wrapped__", called)(**arguments)
if expected is not None:
    module.torch.testing.assert_close(result, expected, atol=1e-2, rtol=1e-2)
print("%s %s: right" % (os.path.basename(file), function))
