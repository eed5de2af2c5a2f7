"""Runs the repository's Python, the same whatever else is installed:

  python3 -ISB python/sm100repo course.grade ARGUMENT...           a module of this package
  python3 -ISB python/sm100repo tests/clock/fit.py ARGUMENT...     a script; it finds the modules beside it

-I leaves out PYTHONPATH and all other variables. -S leaves out every site-packages, also a virtual environment's. So a
module comes from Python itself, from python/ or from the script's own folder. -B writes no __pycache__.
"""

import os
import runpy
import sys

del sys.argv[0]
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if sys.argv[0].endswith(".py"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module("sm100repo." + sys.argv[0], run_name="__main__", alter_sys=True)
