from sm100emu import _main

_main()
