"""tutorial.py FILE [ARGS]: runs one of Triton's tutorials as it is, but for its measurements of speed, which say nothing
on an emulator: triton.testing.perf_report gives what runs nothing, do_bench runs once, and of several configurations the
first one is taken. FILE finds stand_in/torch.py as torch.
"""

import os
import runpy
import sys
import time
import types



def no_report(benchmarks):
    return lambda function: types.SimpleNamespace(run=lambda *args, **options: None)


def once(function, *args, quantiles=None, **options):
    began = time.monotonic()
    function()
    took = 1e3 * (time.monotonic() - began)
    return [took] * len(quantiles) if quantiles else took


def prepare():
    """What a tutorial finds different when it is imported."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in"))
    import triton

    def first(configs, key, autotune=triton.autotune, **options):
        return autotune(configs[:1], key, **options)

    triton.autotune = first
    triton.testing.perf_report = no_report
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = once


if __name__ == "__main__":
    prepare()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
