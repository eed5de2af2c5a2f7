# The one door: `make` lists what it opens. GNU make 3.82 or later; no other tool is needed to read the list.
#
# What is built where:
#   build/NN_name              a step, by nvcc: SASS for B200 and B300, and PTX
#   build/ladder/N_name        a rung of the ladder to step 05, likewise; build/parts/name: a part of step 01
#   build/emulator/            libsm100emu.a, libsm100emu.so and the names a program asks for
#                              (libcudart.so.12, .13, libcuda.so.1, libcute_dsl_runtime.so); ptxas, a stand-in for
#                              Triton; python/, what Python does first
#   build/sm100emu             runs a program on the emulator; sm100emu.1 is its man page
#   build/sm100emu-log         shows the logs that it writes
#   build/sm100emu-rules       prints the diagnostics that it can give (make rules)
#   build/watch/NN/            the page of a step (make watch-NN), and the log that it is made of; build/watch/dsl/
#                              (make watch-dsl), whose program is in build/dsl/
#   build/break/NN-N/          a copy of a step with its N-th experiment applied (make break-NN-N)
#   build/sm100emu-VERSION...  the tarball (make dist) and the Python wheel (make wheel)
#   build/tests/               programs of the tests, and CTest's own files
#   build/sm_90/               programs of the tests for Hopper (make sanitizer), which the emulator runs, too
#   build-asan/, build-tsan/   the same for the emulator's own code under SANITIZE=1, SANITIZE=thread
#   build-aarch64/             the emulator and its tests for ARM64 (make test-aarch64)
#   .toolkit/                  nvcc and its headers, where the machine has none that will do; what lint and sass need

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

COMMA := ,
V ?=
Q := $(if $(V),,@)
# $(call say,WHAT,FILE): what is being built. On a terminal one line counts it, and the next thing printed there clears that
# line ($(said)); elsewhere a first line says how much there is to do, and three more that it goes on. V=1: the commands.
say = $(if $(COUNT),@: to do,$(if $(V),,$(call told,$(1),$(patsubst emulator/%,%,$(2:$(BUILD)/%=%)))))
told = $(eval DONE += x)$(if $(TO_DO),,$(eval TO_DO := $(shell $(TO_COUNT))))$(if $(MAKE_TERMOUT),$(counted),$(now_and_then))
counted = @n=$(words $(DONE)) of=$(firstword $(TO_DO)); printf '  [%3d/%d] %-5s %s\033[K\r' $$n $$((n > of ? n : of)) $(1) '$(2)'
now_and_then = $(if $(filter 1,$(words $(DONE))),$(info $()  building, $(firstword $(TO_DO)) to do for $(MAKECMDGOALS); V=1 shows the commands))
now_and_then += $(if $(filter $(words $(DONE)),$(wordlist 2,4,$(TO_DO))),$(info $()  $(words $(DONE)) of $(firstword $(TO_DO))))
# How much there is to do, and quarters of it: a make of its own that runs nothing (its shell is `true`) says so. It takes
# the files that hold flags as they are, since it would rebuild all behind them.
COUNT ?=
FORCED := $(if $(COUNT),,FORCE)
COUNT_FOR := BUILD PROGRAMS CC SANITIZE RUNG PART EXERCISE UNDER
TO_COUNT = n=$$(MAKEFLAGS= $(MAKE) -n COUNT=1 $(RUN_ON:%=BACKEND=%) $(foreach v,$(COUNT_FOR),$(if $(filter command,$(origin $v)),'$v=$($v)')) \
    $(MAKECMDGOALS) 2>/dev/null | grep -c '^: to do'); echo $$n $$(((n + 3) / 4)) $$(((n + 1) / 2)) $$((n * 3 / 4))
said = @if [ -t 1 ]; then printf '\033[K'; fi

# ---------------------------------------------------------------- variables to set
ARGS ?=
BACKEND ?=
SANITIZE ?=
WHEELS ?=
WERROR ?=
ONLY ?=
MACHINES ?=
FUZZ_SECONDS ?= 600
BENCH_SIZE ?= 2048
BENCH_RUNS ?= 3
BENCH_MEMORY ?=
BASE ?=
SEEDS ?= 100
TEXT ?=
BREAK ?=
BESIDE ?=
DSL ?=
SCHEDULE ?=
RUNG ?=
PART ?=
SEED ?=
FORCE ?=
HINT ?=
EXERCISE ?=
GRADE ?=
SUBMISSIONS ?=
DRAW ?=
RESULTS ?=
STUDENTS ?=
WEIGHTS ?=
SHARD ?=
# Where `make install` puts things, by the names of the GNU Coding Standards.
PREFIX ?= /usr/local
DESTDIR ?=
prefix = $(PREFIX)
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
libdir = $(exec_prefix)/lib
datarootdir = $(prefix)/share
mandir = $(datarootdir)/man
docdir = $(datarootdir)/doc/sm100emu
export CC WERROR WHEELS NVCC CUDA_HOME PROGRAMS TOOLKIT_DIR

ifeq ($(origin CC),default)
CC := $(firstword $(foreach c,cc gcc clang,$(if $(shell command -v $(c) 2>/dev/null),$(c))) cc)
endif

ifneq ($(BACKEND),)
ifneq ($(BACKEND),gpu)
ifneq ($(BACKEND),emulator)
$(error BACKEND=$(BACKEND) is not a backend: say BACKEND=gpu, BACKEND=emulator, or leave it out)
endif
endif
endif

# A variable that no target asks is a slip of the pen.
GIVEN := $(if $(filter 0,$(MAKELEVEL)),$(foreach v,$(filter-out MAKE% -%,$(.VARIABLES)),$(if $(filter command,$(origin $v)),$v)))
GIVEN := $(if $(GIVEN),$(shell sh scripts/help.sh --variables $(GIVEN:%='%')))

ifneq ($(filter-out 1 thread,$(SANITIZE)),)
$(error SANITIZE=$(SANITIZE) is not known: SANITIZE=1 is AddressSanitizer and UBSan, SANITIZE=thread ThreadSanitizer)
endif

# ---------------------------------------------------------------- what there is
# The repository's own Python: whatever else the user has installed, it finds its modules.
PYTHON := python3 -ISB python/sm100repo
BUILD := build$(if $(SANITIZE),$(if $(filter thread,$(SANITIZE)),-tsan,-asan))
# What nvcc makes is the same with and without sanitizers.
PROGRAMS := $(if $(filter command,$(origin BUILD)),$(BUILD),build)
# The fetched toolkit; beside the programs where the checkout cannot be written to.
TOOLKIT_DIR := $(if $(or $(wildcard .toolkit),$(shell test -w . && echo yes)),$(CURDIR)/.toolkit,$(abspath $(PROGRAMS))/toolkit)
ifneq ($(filter-out help doctor layers clean distclean,$(or $(MAKECMDGOALS),help)),)
ifeq ($(shell mkdir -p '$(BUILD)' '$(PROGRAMS)' 2>/dev/null && test -w '$(BUILD)' && echo yes),)
$(error $(abspath $(BUILD)) cannot be written to: say BUILD=dir, a folder to build in (make BUILD=/tmp/sm100 $(MAKECMDGOALS)))
endif
endif
STEPS := $(sort $(patsubst %/,%,$(wildcard [0-9][0-9]_*/)))
STEPS := $(foreach s,$(STEPS),$(if $(wildcard $(s)/$(s).cu),$(s)))
NUMBERS := $(foreach s,$(STEPS),$(firstword $(subst _, ,$(s))))
RUNG_SOURCES := 05_persistent_warpspec/ladder
RUNGS := $(sort $(patsubst $(RUNG_SOURCES)/%.cu,%,$(wildcard $(RUNG_SOURCES)/*.cu)))
PART_SOURCES := 01_tmem_alloc/parts
PARTS := $(sort $(patsubst $(PART_SOURCES)/%.cu,%,$(wildcard $(PART_SOURCES)/*.cu)))
# The programs beside those of the steps.
SUBPROGRAMS := $(RUNGS:%=ladder/%) $(PARTS:%=parts/%)
RUNS := $(NUMBERS:%=run-%)
CHECKS := $(NUMBERS:%=check-%)
WATCHES := $(NUMBERS:%=watch-%)

.PHONY: help all test test-more test-full doctor toolkit format lint machines layers sass rules fuzz clean distclean $(RUNS) $(CHECKS) $(WATCHES) watch-dsl FORCE

help: ## this list
	@sh scripts/help.sh $(STEPS)

all: $(STEPS:%=$(PROGRAMS)/%) $(SUBPROGRAMS:%=$(PROGRAMS)/%) emulator ## every step, its parts and rungs, the emulator and its launcher
	$(said)

# ---------------------------------------------------------------- the emulator: C11, no CUDA needed
EMU := $(BUILD)/emulator
EMU_SRC := $(sort $(wildcard emulator/*/*.c emulator/*/*/*.c))
EMU_OBJ := $(EMU_SRC:emulator/%.c=$(EMU)/obj/%.o)
# Handlers that work on all lanes of a warp are compiled again for the host's vector units (emulator/isa/unit.h).
UNIT_SRC := compare cp_async cvt cvt_pack float half integer links logic memory mma_sync move warp_ops
UNIT_OBJ := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),$(foreach u,avx2 avx512,$(UNIT_SRC:%=$(EMU)/obj/isa/%.$(u).o)))
EMU_OBJ += $(UNIT_OBJ)
# What only sm100emu-log is made of, and what the launcher is: the first run waits for no more than it needs.
LOG_OBJ := $(filter $(addprefix %/view/,json.o perfetto.o timeline.o),$(EMU_OBJ))
LIB_OBJ := $(filter-out $(LOG_OBJ),$(EMU_OBJ))
LAUNCHER_OBJ := $(filter $(addprefix $(EMU)/obj/,base/%.o clock/load.o clock/table.o cudart/core/options.o cudart/loader/%.o \
                explore/%.o launcher/%.o machine/worker.o report/excerpt.o report/record.o report/text.o view/event_rows.o \
                view/follow.o view/names%.o view/say.o view/tiles.o),$(LIB_OBJ))
EMU_NAMES := $(addprefix $(EMU)/,libcudart.so.12 libcudart.so.13 libcuda.so.1 libcute_dsl_runtime.so)
EXPORTS := emulator/cudart/runtime/exports.map

# Most of the emulator runs once for a launch, and is compiled in half of the time that -O2 -g takes; -g1 has the lines of
# backtraces. OPT='-O0 -g', for a debugger, holds for all rooms.
OPT ?= -Og -g1
CFLAGS ?=
# Warnings are errors where WERROR=1 says so, as .ci/run and lint do: a compiler of next year has warnings of its own.
WARN = -Wall -Wextra $(if $(WERROR),-Werror)
# A product and a sum are two roundings, whatever the host and the compiler: a result has the same bits everywhere.
EXACT := -ffp-contract=off
EMU_CFLAGS = $(OPT) $(EXACT) -std=c11 -D_GNU_SOURCE $(WARN) -fPIC -fvisibility=hidden -I emulator \
             $(SAN_FLAGS) $(CFLAGS)
ifneq ($(SANITIZE),)
OPT = -O1 -g
ifeq ($(SANITIZE),thread)
SAN_NAME := tsan
SAN_FLAGS := -fsanitize=thread -fno-omit-frame-pointer
else
SAN_NAME := asan
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
SAN_LIB := $(shell $(CC) -print-file-name=libclang_rt.$(SAN_NAME)-$(shell uname -m).so)
SAN_LINK := -shared-libsan -Wl,-rpath,$(dir $(SAN_LIB))
else
SAN_LIB := $(shell $(CC) -print-file-name=lib$(SAN_NAME).so)
endif
endif
EMU_LINK = $(SAN_FLAGS) $(SAN_LINK) $(LDFLAGS)
EMU_LIBS := -ldl -lm -lpthread

# What a program runs by; the archive is for the tests, sm100emu-log for logs.
STATIC := $(EMU)/libsm100emu-static.so
RUNNER := $(EMU_NAMES) $(STATIC) $(EMU)/ptxas $(EMU)/python/sitecustomize.py $(BUILD)/sm100emu
.PHONY: emulator
emulator: $(RUNNER) $(EMU)/libsm100emu.a $(BUILD)/sm100emu-log ## only the emulator and its launcher
	$(said)

# $(call hold,TEXT): the target is a file of TEXT, which is younger only where TEXT is another.
define hold
	@mkdir -p $(@D)
	@printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' >$@
endef

# The command line is a prerequisite: another compiler or flag rebuilds. -Werror changes no object: a make that a test runs
# without it would rebuild what other tests are using.
$(EMU)/flags: $(FORCED)
	@sh scripts/doctor.sh need cc
	$(call hold,$(CC) $(filter-out -Werror,$(EMU_CFLAGS)) $(EMU_LINK))

# The list of objects too: a source that is gone leaves the archive.
$(EMU)/objects: $(FORCED)
	$(call hold,$(EMU_OBJ))

# What the launcher is told: its version, and where the libraries lie as seen from its folder, so that what is installed
# may be moved as a whole.
VERSION = $(shell cat VERSION)
LIBRARIES = $(shell realpath -ms --relative-to='$(bindir)' '$(libdir)/sm100emu')
TOLD = -DVERSION='"$(VERSION)"' -DLIBRARIES='"$(LIBRARIES)"'
$(EMU)/told: $(FORCED)
	$(call hold,$(VERSION) $(LIBRARIES))

# What takes most of an emulation's time: the loops over matrices in simd/, the checks of order, the machine's steps, the
# loops over lanes in isa/. What runs once for a launch, or once for a finding, is quickly compiled.
TUNED := $(if $(SANITIZE),,$(filter file,$(origin OPT)))
$(foreach r,check simd,$(EMU)/obj/$(r)/%.o): EMU_CFLAGS += $(TUNED:file=-O3)
$(foreach r,base/% clock/% engines/% machine/% num/% simd/fused warp/%,$(EMU)/obj/$(r).o): EMU_CFLAGS += $(TUNED:file=-O2)
$(foreach r,$(addprefix engines/,tc_alloc tc_desc tc_idesc tensormap) launch/% lower/% ptx/%,$(EMU)/obj/$(r).o): EMU_CFLAGS += $(TUNED:file=-O1)
$(foreach f,cp_async mbarrier,$(EMU)/obj/isa/$(f).o): EMU_CFLAGS += $(TUNED:file=-O2)
$(EMU)/obj/launch/timed.o: EMU_CFLAGS += $(TUNED:file=-O2)
$(EMU)/obj/isa/%.o: EMU_CFLAGS += $(TUNED:file=-O1 -ftree-vectorize -fno-tree-slp-vectorize)
$(foreach r,cudart/core cudart/cutedsl cudart/driver cudart/runtime deadlock explore launcher report,$(EMU)/obj/$(r)/%.o): EMU_CFLAGS += $(TUNED:file=-O0)
# Passes of gcc's that take more of the compiler's time than they save of the emulator's, but for check/ and simd/. clang
# knows no such flags. In isa/builtin.c gcc would take values for uninitialised.
ifeq ($(findstring clang,$(if $(TUNED),$(shell $(CC) --version 2>/dev/null),clang)),)
$(filter-out $(addprefix $(EMU)/obj/,check/% isa/builtin.o simd/%),$(EMU_OBJ)): EMU_CFLAGS += -fno-tree-dominator-opts -fno-tree-vrp -fno-gcse -fno-schedule-insns2
# Its loops have more operations than pipes to run them: an order that keeps all pipes busy is worth a percent.
$(EMU)/obj/simd/fused_avx512.o: EMU_CFLAGS += -fschedule-insns
endif

$(EMU)/obj/%.o: emulator/%.c $(EMU)/flags Makefile
	$(call say,CC,$<)
	$(if $(wildcard $(@D)/.),,@mkdir -p $(@D))
	$(Q)$(CC) $(EMU_CFLAGS) -MMD -MP -c $< -o $@

UNIT_avx2 := -mavx2 -mfma -mf16c
UNIT_avx512 := $(UNIT_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512
UNIT_OPT := $(TUNED:file=-O2 -ftree-vectorize -fno-tree-slp-vectorize) -fno-math-errno -fno-trapping-math
define unit
$$(EMU)/obj/isa/%.$(1).o: emulator/isa/%.c $$(EMU)/flags Makefile
	$$(call say,CC,$$@)
	$$(if $$(wildcard $$(@D)/.),,@mkdir -p $$(@D))
	$$(Q)$$(CC) $$(EMU_CFLAGS) $$(UNIT_OPT) $$(UNIT_$(1)) -DISA_UNIT=$(1) -DDIAG_LISTED_ELSEWHERE -MMD -MP -c $$< -o $$@
endef
$(foreach u,avx2 avx512,$(eval $(call unit,$(u))))

$(EMU)/obj/report/sarif.o $(EMU)/obj/cudart/core/statistics.o: EMU_CFLAGS += -DVERSION='"$(VERSION)"'
$(EMU)/obj/report/sarif.o: $(EMU)/told

# `q`, not `r`: two rooms may have a file of one name.
$(EMU)/libsm100emu.a: $(EMU_OBJ) $(EMU)/objects
	$(call say,AR,$@)
	$(Q)rm -f $@.new && $(AR) qcs $@.new $(EMU_OBJ) && mv -f $@.new $@

# nodelete: a program that closes the last plugin with CUDA in it leaves the emulator's threads where they are.
$(EMU)/libsm100emu.so: $(LIB_OBJ) $(EMU)/objects $(EXPORTS)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(EMU_LINK) -Wl,-soname,libsm100emu.so -Wl,-Bsymbolic -Wl,-z,nodelete \
	    -Wl,--version-script=$(EXPORTS) \
	    -o $@ $(LIB_OBJ) $(EMU_LIBS)

# initfirst: its constructor comes before those of the program's libraries, and of a sanitizer's runtime, so it has none.
# now: the loader, which binds calls, is not asked for anything while its code is written.
STATIC_SRC := emulator/sm100emu-static.c $(addprefix emulator/cudart/loader/,static.c elf.c)
$(STATIC): $(STATIC_SRC) $(STATIC_SRC:emulator/cudart/%.c=emulator/cudart/%.h) $(EMU)/flags Makefile
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out $(SAN_FLAGS),$(EMU_CFLAGS)) -shared $(LDFLAGS) -Wl,-soname,$(@F) -Wl,-z,initfirst -Wl,-z,nodelete -Wl,-z,now \
	    -o $@ $(STATIC_SRC) -ldl

$(EMU_NAMES): $(EMU)/libsm100emu.so
	@ln -sf libsm100emu.so $@ && touch -h $@

$(EMU)/python/%: python/hook/%
	@mkdir -p $(@D)
	@cp $< $@

$(BUILD)/sm100emu: emulator/sm100emu.c $(LAUNCHER_OBJ) $(EMU)/objects $(EMU)/flags $(EMU)/told Makefile
$(BUILD)/sm100emu-log: emulator/sm100emu-log.c $(EMU)/libsm100emu.a $(EMU)/flags $(EMU)/told Makefile
$(EMU)/ptxas: emulator/sm100emu-ptxas.c $(EMU)/libsm100emu.a $(EMU)/flags $(EMU)/told Makefile
$(BUILD)/sm100emu $(BUILD)/sm100emu-log $(EMU)/ptxas:
	$(call say,LINK,$@)
	$(Q)$(CC) $(EMU_CFLAGS) $(TOLD) -MMD -MP -MF $@.d $(SAN_LINK) $(LDFLAGS) $< $(filter %.o %.a,$^) $(EMU_LIBS) -o $@

# With all objects, not the archive: it prints the diagnostics of every room.
$(BUILD)/sm100emu-rules: emulator/sm100emu-rules.c $(EMU_OBJ) $(EMU)/flags Makefile
	$(call say,LINK,$@)
	$(Q)$(CC) $(EMU_CFLAGS) $(SAN_LINK) $(LDFLAGS) $< $(EMU_OBJ) $(EMU_LIBS) -o $@

-include $(EMU_OBJ:.o=.d) $(BUILD)/sm100emu.d $(BUILD)/sm100emu-log.d $(EMU)/ptxas.d

# ---------------------------------------------------------------- the emulator on its way to other machines
$(BUILD)/sm100emu.1 $(BUILD)/sm100emu-log.1: $(BUILD)/%: emulator/% VERSION
	@sed 's/@VERSION@/$(VERSION)/' $< >$@

.PHONY: install uninstall dist wheel
DIRS = DESTDIR='$(DESTDIR)' bindir='$(bindir)' libdir='$(libdir)' mandir='$(mandir)' docdir='$(docdir)'
install: emulator $(BUILD)/sm100emu.1 $(BUILD)/sm100emu-log.1 ## the launcher, its libraries and its man page into PREFIX=/usr/local (DESTDIR, bindir, libdir, mandir)
	@$(DIRS) sh scripts/install.sh put $(BUILD)

uninstall: ## remove what install put there, and nothing else
	@$(DIRS) sh scripts/install.sh take $(BUILD)

dist: ## the commit as build/sm100emu-VERSION.tar.gz, the same bytes on every machine
	@sh scripts/dist.sh

wheel: emulator $(BUILD)/sm100emu.1 $(BUILD)/sm100emu-log.1 ## the emulator as a Python wheel in build/: pip install build/sm100emu-*.whl
	@sh scripts/doctor.sh need python3 objdump strip
	@CC='$(CC)' $(PYTHON) scripts/wheel.py $(BUILD)

# ---------------------------------------------------------------- the steps: one nvcc line each
# The family target: B200 (10.0) and B300 (10.3) run the SASS, the emulator reads the PTX, which is why nothing is
# compressed. RUNPATH, not RPATH: the loader looks there after LD_LIBRARY_PATH, by which the emulator comes first. The
# quotes within quotes are for the shell that nvcc calls the linker by.
NVCC_FLAGS := -O3 -std=c++17 -lineinfo
NVCC_TARGET := -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart shared --no-compress
NVCC_CHECK := -Xptxas -v,-warn-spills -Xcompiler -Wall
TOOLKIT := $(PROGRAMS)/toolkit.env

toolkit: $(TOOLKIT) ## find nvcc 12.9 or later, or fetch it from PyPI into .toolkit/ (WHEELS=dir: from there)
	@sh scripts/toolkit.sh show $(TOOLKIT)

# Two lines for python/sm100repo/toolkit.py. Expanded here, because NVCC_TARGET is another for the programs for Hopper.
NVCC_WORDS := NVCC_FLAGS=$(NVCC_FLAGS)' 'NVCC_TARGET=$(NVCC_TARGET)
$(PROGRAMS)/nvcc.flags: $(FORCED)
	$(call hold,$(NVCC_WORDS))

$(TOOLKIT): $(PROGRAMS)/nvcc.flags $(FORCED)
	@mkdir -p $(@D)
	@sh scripts/toolkit.sh env $@

# $(call nvcc,SOURCE,PROGRAM): what nvcc and ptxas said stays beside the program, for the test that reads it. A line
# `// NVCC: flags` in SOURCE stands in for NVCC_TARGET: kernels of the tests that are built wrongly on purpose.
define nvcc
	$(call say,NVCC,$(1))
	@mkdir -p $(dir $(2))
	$(Q). '$(abspath $(TOOLKIT))'; set -f; target=$$(sed -n 's|^// NVCC: *||p' $(1)); \
	if "$$NVCC" $(NVCC_FLAGS) -Xlinker "\"-rpath=$$CUDART_DIR\"",--enable-new-dtags $${target:-$(NVCC_TARGET)} \
	    $(NVCC_CHECK) -MMD -MP -MF $(2).d -o $(2) $(1) -L"$$LINK_DIR" >$(2).log 2>&1; \
	then grep -i -A4 'warning' $(2).log || :; else cat $(2).log >&2; rm -f $(2); exit 1; fi
endef

# An exercise whose name has rungN or a part's name in it is of that rung or part.
EXERCISE_WORD := $(word 3,$(subst -, ,$(EXERCISE)))
ifneq ($(filter rung%,$(EXERCISE_WORD)),)
RUNG := $(patsubst rung%,%,$(EXERCISE_WORD))
endif
ifneq ($(filter $(PARTS),$(EXERCISE_WORD)),)
PART := $(EXERCISE_WORD)
endif
# RUNG=N: run-05, check-05 and watch-05 are of that rung of the ladder. PART=name: run-01 and so on of that part of step 01.
# $(call only,VARIABLE,STEP,WHAT,NAMES,FOUND): VARIABLE is for STEP, which alone has WHAT, and says one of NAMES, FOUND.
define only
ifneq ($(filter run-% check-% watch-%,$(filter-out %-0$(2) %-$(2),$(MAKECMDGOALS))),)
$$(error $(1)=$($(1)) is for step 0$(2), which alone has $(3): make run-0$(2) $(1)=$($(1)))
endif
ifeq ($(5),)
$$(error $(1)=$($(1)): there are only $(4))
endif
ifneq ($(BREAK),)
$$(error $(1)=$($(1)) and BREAK=$(BREAK) do not go together: a patch says itself which program it changes)
endif
endef
$(if $(RUNG),$(eval $(call only,RUNG,5,a ladder,$(RUNGS),$(filter $(RUNG)_%,$(RUNGS)))))
$(if $(PART),$(eval $(call only,PART,1,parts,$(PARTS),$(filter $(PART),$(PARTS)))))
# The rung or part that is meant; $(call own,STEP): its program or the step's; $(call program,STEP): with the kernel of the
# exercise that EXERCISE names.
SUBPROGRAM := $(if $(RUNG),ladder/$(filter $(RUNG)_%,$(RUNGS)),$(PART:%=parts/%))
own = $(PROGRAMS)/$(or $(SUBPROGRAM),$(1))
program = $(if $(EXERCISE),$(PROGRAMS)/exercises/$(EXERCISE),$(call own,$(1)))

$(PROGRAMS)/ladder/%: $(RUNG_SOURCES)/%.cu $(TOOLKIT) Makefile
	$(call nvcc,$<,$@)
$(PROGRAMS)/parts/%: $(PART_SOURCES)/%.cu $(TOOLKIT) Makefile
	$(call nvcc,$<,$@)
-include $(SUBPROGRAMS:%=$(PROGRAMS)/%.d)

define step_rules
$(PROGRAMS)/$(1): $(1)/$(1).cu $(TOOLKIT) Makefile
	$$(call nvcc,$$<,$$@)

run-$(firstword $(subst _, ,$(1))): $(call program,$(1)) $(if $(filter gpu,$(RUN_ON)),,$(RUNNER))
	@RUN_ON='$(RUN_ON)' SAN_LIB='$(SAN_LIB)' sh scripts/run.sh $(BUILD) $$< $$(ARGS)
	$(if $(EXERCISE)$(filter --help -h,$(ARGS)),,@echo "make watch-$(firstword $(subst _, ,$(1)))$(RUNG:%= RUNG=%)$(PART:%= PART=%) makes a page of what happens in it")

check-$(firstword $(subst _, ,$(1))): $(call program,$(1)) $(RUNNER)
	@SAN_LIB='$(SAN_LIB)' sh scripts/check.sh $(BUILD)/sm100emu $(SEEDS) $$< $$(ARGS)

watch-$(firstword $(subst _, ,$(1))): $(call program,$(1)) $(RUNNER) $(BUILD)/sm100emu-log
	@SAN_LIB='$(SAN_LIB)' ARGS='$$(ARGS)' TEXT='$(TEXT)' BREAK='$(BREAK)' BESIDE='$(BESIDE)' SCHEDULE='$(SCHEDULE)' MAKE='$$(MAKE)' \
	    sh scripts/watch.sh $(BUILD) $(1) $$(if $$(or $$(SUBPROGRAM),$$(EXERCISE)),$$<)
endef

watch-dsl: $(PROGRAMS)/05_persistent_warpspec $(RUNNER) $(BUILD)/sm100emu-log ## the CuTe DSL program that step 05 comes from, beside step 05: build/watch/dsl/index.html (fetches 130 MB, once; DSL=file.py: its source; TEXT=1)
	@DSL='$(DSL)' TEXT='$(TEXT)' SCHEDULE='$(SCHEDULE)' TOOLKIT_DIR='$(TOOLKIT_DIR)' sh scripts/watch_dsl.sh $(BUILD)

# Asked only where a step is about to run.
ifneq ($(filter run-%,$(MAKECMDGOALS)),)
RUN_ON := $(or $(if $(EXERCISE),emulator),$(BACKEND),$(shell sh scripts/doctor.sh backend))
endif
$(foreach s,$(STEPS),$(eval $(call step_rules,$(s))))
-include $(STEPS:%=$(PROGRAMS)/%.d)

run-% check-% watch-% grade-%:
	@echo "make: there is no step $*; the steps are: $(NUMBERS) (make $(firstword $(subst -, ,$@))-01, ...)" >&2; exit 2

# make run-4 is make run-04.
$(foreach n,$(NUMBERS),$(foreach w,run check watch exercise grade answers,$(eval $(w)-$(n:0%=%): $(w)-$(n) ; @:)))

# A goal that is no target: what was meant?
TARGETS := $(shell sed -n 's/^\([a-z][a-z0-9 -]*\):\([^=].*\)*$$/\1/p' Makefile)
UNKNOWN := $(foreach g,$(filter-out $(TARGETS) FORCE,$(MAKECMDGOALS)),$(if $(findstring /,$(g))$(wildcard $(g)),,$(g)))
UNKNOWN := $(filter-out run-% check-% watch-% break-% exercise-% grade-% answers-%,$(UNKNOWN))
.PHONY: $(UNKNOWN)
$(UNKNOWN):
	@sh scripts/help.sh --meant '$@' $(STEPS)

# Without a number: which there are.
.PHONY: run check watch break exercise grade answers
run check watch break exercise grade answers:
	@echo "make $@: which step? $(foreach n,$(NUMBERS),make $@-$(n)$(if $(filter break,$@),-1))" >&2; exit 2

# ---------------------------------------------------------------- the course: experiments, exercises, marks, pictures, pages
# break-NN-N: the N-th patch of the step's breaks/ on a copy, which is run; fails where the emulator does not tell it.
break-%: emulator $(TOOLKIT)
	@SAN_LIB='$(SAN_LIB)' MAKE='$(MAKE)' sh scripts/break.sh $(BUILD) $*

# The program of an exercise is the step's with the student's kernels in its PTX: it is for the emulator alone.
ifneq ($(and $(EXERCISE),$(filter run-% check-% watch-%,$(MAKECMDGOALS))),)
EXERCISE_LESSON := $(firstword $(subst -, ,$(EXERCISE)))
EXERCISE_ROOM := exercises/$(EXERCISE_LESSON)
ifneq ($(wildcard $(EXERCISE_ROOM)/$(EXERCISE)/answers.txt),)
$(error $(EXERCISE) has questions, and no kernel to run: make grade-$(EXERCISE_LESSON) EXERCISE=$(EXERCISE) marks the answers)
endif
ifeq ($(wildcard $(EXERCISE_ROOM)/$(EXERCISE)/kernel.cuh),)
EXERCISES_THERE := $(patsubst $(EXERCISE_ROOM)/%/kernel.cuh,%,$(wildcard $(EXERCISE_ROOM)/*/kernel.cuh))
$(error there is no $(EXERCISE_ROOM)/$(EXERCISE)/kernel.cuh to run$(if \
    $(EXERCISES_THERE),; there are: $(EXERCISES_THERE),: make exercise-NN writes the exercises of a lesson))
endif
EXERCISE_STEP = $(filter $(EXERCISE_LESSON)_%,$(STEPS))
$(PROGRAMS)/exercises/%: $(EXERCISE_ROOM)/%/kernel.cuh $(call own,$(EXERCISE_STEP)) FORCE
	$(call say,NVCC,$<)
	@sh scripts/doctor.sh need python3
	@$(PYTHON) course.kernels --build $(PROGRAMS) $< $(EXERCISE_STEP)$(SUBPROGRAM:%=/%) $@
endif

exercise-%:
	@sh scripts/doctor.sh need python3
	@$(PYTHON) course.exercise --seed '$(SEED)' $(if $(FORCE),--force) $*

answers-%:
	@sh scripts/doctor.sh need python3
	@$(PYTHON) course.exercise --answers --seed '$(SEED)' --seeds '$(STUDENTS)' $*

# Answers to questions need no program.
ASKED := $(subst $(COMMA), ,$(EXERCISE))
MARKED_BY_RUNS := $(or $(filter-out $(NUMBERS:%=%-predict-%),$(ASKED)),$(if $(ASKED),,all))
define grade_rule
grade-$(firstword $(subst _, ,$(1))): $(if $(MARKED_BY_RUNS),$(PROGRAMS)/$(1) $(if $(filter 01_% 05_%,$(1)),$(SUBPROGRAMS:%=$(PROGRAMS)/%)) emulator)
	@sh scripts/doctor.sh need python3
	@$(PYTHON) course.grade --build $(BUILD) --seed '$$(SEED)' --hint '$$(HINT)' --exercise '$$(EXERCISE)' \
	    --format '$$(GRADE)' --output '$$(RESULTS)' --draw '$$(DRAW)' $(firstword $(subst _, ,$(1)))
endef
$(foreach s,$(STEPS),$(eval $(call grade_rule,$(s))))

.PHONY: grade-all docs site slides handout
grade-all: all ## mark a class, one folder for each student in SUBMISSIONS=dir: build/grade/marks.csv (docs/teaching.md)
	@sh scripts/doctor.sh need python3
	@$(PYTHON) course.grade_all --build $(BUILD) --exercise '$(EXERCISE)' --seeds '$(STUDENTS)' --draw '$(DRAW)' \
	    --weights '$(WEIGHTS)' --csv '$(RESULTS)' --shard '$(SHARD)' '$(SUBMISSIONS)'

docs: all $(PROGRAMS)/tests/negative/launch_ptx ## draw the figures of the lessons and pages, docs/figures/*.svg, from runs
	@sh scripts/doctor.sh need python3
	@SAN_LIB='$(SAN_LIB)' $(PYTHON) docs/figures/draw.py --build $(BUILD) --programs $(PROGRAMS)

site: all ## lessons, pages, figures, sources and watch pages as a site; open it in build/site/ (fetches Sphinx, 30 MB)
	@MAKE='$(MAKE)' sh scripts/site.sh $(BUILD)

slides: ## slides for the four sessions of docs/teaching.md; open them in build/slides/ (fetches Sphinx, 30 MB)
	@sh scripts/slides.sh $(BUILD)/slides

handout: ## a handout for students to print, in build/handout/; with Chromium also as a PDF (fetches Sphinx, 30 MB)
	@sh scripts/handout.sh $(BUILD)/handout

# Broken copies, of watch-NN BREAK=N as well: scripts/broken.sh makes their sources.
$(PROGRAMS)/break/%: $(PROGRAMS)/break/%.cu $(TOOLKIT) Makefile
	$(call nvcc,$<,$@)
-include $(wildcard $(PROGRAMS)/break/*/*/*.d)
# Where nothing is another for the host, the copy in KERNEL_IN is the program of the step KERNEL_OF with other PTX.
ifneq ($(KERNEL_IN),)
$(KERNEL_IN)/$(KERNEL_OF)/$(KERNEL_OF): $(PROGRAMS)/$(KERNEL_OF) $(wildcard $(KERNEL_IN)/*/*.[ch]*) $(TOOLKIT) Makefile
	$(call say,NVCC,$@.cu)
	@$(PYTHON) course.kernels --build $(PROGRAMS) $@.cu $(KERNEL_OF) $@
endif

# ---------------------------------------------------------------- tests
# The programs of the tests. Most of nvcc's time goes to headers, so the kernels that must fail and what runs beside the
# steps are one program under many names (tests/batch.sh), of PTX alone, since only the emulator runs it. What a line
# `// NVCC: flags` builds wrongly on purpose is built by itself, and with the rest of MORE only for `make test-more`.
ODD := $(shell grep -l '^// NVCC:' tests/negative/*.cu)
BATCH := $(filter-out $(ODD),$(wildcard tests/negative/*.cu tests/steps/*.cu))
MORE := $(ODD) $(wildcard tests/bench/*.cu tests/mutants/small/*.cu tests/clock/*.cu) tests/silicon/latencies.cu
DRIVERS := $(wildcard tests/negative/*.c tests/silicon/*.c)
DRIVER_PROGRAMS := $(DRIVERS:%.c=$(PROGRAMS)/%)

$(PROGRAMS)/tests/batch.cu: $(BATCH) tests/batch.sh Makefile
	@mkdir -p $(@D)
	@sh tests/batch.sh $@ $(BATCH)
$(PROGRAMS)/tests/batch: NVCC_TARGET := -gencode arch=compute_100f,code=compute_100f -cudart shared --no-compress -I tests/negative
$(PROGRAMS)/tests/batch: $(PROGRAMS)/tests/batch.cu $(TOOLKIT) Makefile
	$(call nvcc,$<,$@)
$(BATCH:%.cu=$(PROGRAMS)/%): $(PROGRAMS)/tests/batch
	@mkdir -p $(@D)
	@ln -sf ../batch $@
$(PROGRAMS)/tests/%: tests/%.cu $(TOOLKIT) Makefile
	$(call nvcc,$<,$@)
$(DRIVER_PROGRAMS): $(PROGRAMS)/%: %.c $(wildcard tests/silicon/*.h tests/negative/*.h) common/descriptors.h Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -O0 -g -std=c11 -D_GNU_SOURCE $(WARN) $< -o $@ -ldl -lm
-include $(PROGRAMS)/tests/batch.d $(MORE:%.cu=$(PROGRAMS)/%.d)

# Tests of the emulator's parts, a program each, linked with it. What they test is optimised; they are not, but for those
# that compute the answers of a chip themselves.
UNITS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*/test_*.c tests/fuzz/fuzz_exec.c tests/fuzz/fuzz_api.c tests/cute/*.c))
TEST_OPT = $(if $(SANITIZE),$(OPT),-O0 -g)
TEST_CFLAGS = $(TEST_OPT) $(EXACT) -std=c11 -D_GNU_SOURCE $(WARN) -I . -I emulator -I tests \
              $(SAN_FLAGS) $(SAN_LINK) $(CFLAGS) $(LDFLAGS)
$(foreach r,engines num,$(BUILD)/tests/unit/$(r)/%): TEST_OPT = $(if $(SANITIZE),$(OPT),-O1 -g)
$(BUILD)/tests/fuzz/%: SAMPLE = tests/fuzz/sample.c
$(UNITS): $(BUILD)/%: %.c tests/fuzz/sample.c $(EMU)/libsm100emu.a $(EMU)/flags Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -MMD -MP -MF $@.d $< $(SAMPLE) $(EMU)/libsm100emu.a $(EMU_LIBS) -o $@
-include $(UNITS:=.d)

# What is put between a step and CUDA.
PRELOADED := $(BUILD)/tests/steps/other_gpu.so $(BUILD)/tests/steps/copied.so
$(PRELOADED): $(BUILD)/%.so: %.c $(EMU)/flags Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) -shared -fPIC $< -ldl -o $@

# The same sources for Hopper: SASS of sm_90a for the chip, PTX of sm_90, which any later device takes, for the emulator.
SANITIZED := tests/silicon/sanitized.txt
HOPPER := $(patsubst %.cu,$(PROGRAMS)/sm_90/%,$(filter %.cu,$(sort $(shell grep '^[^\# ]' $(SANITIZED)))))
$(PROGRAMS)/sm_90/%: NVCC_TARGET := -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=compute_90 -cudart shared \
    --no-compress
$(PROGRAMS)/sm_90/%: NVCC_CHECK := -Xptxas -w -Xcompiler -Wall
$(PROGRAMS)/sm_90/%: %.cu $(TOOLKIT) Makefile
	$(call nvcc,$<,$@)
$(PROGRAMS)/sm_90/tests/negative/launch_ptx: $(PROGRAMS)/tests/negative/launch_ptx
	@mkdir -p $(@D)
	$(Q)cp $< $@
-include $(HOPPER:=.d)

KERNEL ?=
.PHONY: hopper sanitizer
hopper: $(HOPPER) $(PROGRAMS)/sm_90/tests/negative/launch_ptx # the programs of SANITIZED
	$(said)

sanitizer: ## on a Hopper GPU: correct kernels under compute-sanitizer's four tools, tests/silicon/sanitized.txt (KERNEL=name JOBS=4)
	@sh scripts/doctor.sh need python3
	@$(PYTHON) scripts/sanitizer.py --have $(PROGRAMS)/sm_90 $(SANITIZED)
	@$(MAKE) hopper
	@$(PYTHON) scripts/sanitizer.py --jobs $(JOBS) $(PROGRAMS)/sm_90 $(SANITIZED) $(KERNEL)

# How far it is; V=1: every line.
PROGRESS := $(if $(V),,sh scripts/progress.sh)
CTEST = $(PROGRESS) ctest --test-dir $(BUILD)/tests --output-on-failure --no-label-summary -j $$(nproc)

# UNDER: the command before a program of another machine (test-aarch64).
UNDER ?=
define cmake_tests
	@sh scripts/doctor.sh need cmake ctest
	@mkdir -p $(BUILD)/tests
	@cmake -S tests -B $(BUILD)/tests -DROOT='$(CURDIR)' -DPRODUCTS='$(abspath $(BUILD))' \
	    -DPROGRAMS='$(abspath $(PROGRAMS))' \
	    -DSTEPS="$(STEPS)" -DCC="$$(command -v $(firstword $(CC)))" -DSAN_LIB="$(SAN_LIB)" -DUNDER="$(UNDER)" \
	    >$(BUILD)/tests/cmake.log 2>&1 || { cat $(BUILD)/tests/cmake.log >&2; exit 1; }
endef

.PHONY: tests tests-more
tests: all $(BUILD)/sm100emu-rules $(BATCH:%.cu=$(PROGRAMS)/%) $(DRIVER_PROGRAMS) $(UNITS) $(PRELOADED) $(BUILD)/tests/clock/replay ## build the tests, but run none
	$(said)
	$(cmake_tests)

tests-more: tests $(MORE:%.cu=$(PROGRAMS)/%) hopper # what the other tests need, too

test: tests ## build and run the tests (SANITIZE=1: the emulator under AddressSanitizer and UBSan; SANITIZE=thread: TSan)
	@$(CTEST) -LE 'more|full'

test-more: tests-more ## the slow tests that `make test` leaves out: packaging, services, browser, cheats, schedules
	@$(CTEST) -L more

test-full: tests-more ## the tests, those of test-more, and the long suites
	@$(CTEST)

.PHONY: lessons
LESSONS ?=
lessons: all ## run every command of the lessons and pages, and compare its output with the shown one (LESSONS='01 docs.watching --update')
	@sh scripts/doctor.sh need python3 patch
	@$(PYTHON) tests/lessons/lessons.py --slow $(LESSONS)

.PHONY: mend
RENAME ?=
EXPECT ?=
PAGES ?=
mend: ## after a change: renew quoted sources and shown output in all pages (CONTRIBUTING.md; RENAME='old new')
	@sh scripts/doctor.sh need python3 patch git
	+@MAKE='$(MAKE)' SAN_LIB='$(SAN_LIB)' $(PYTHON) tests/lessons/mend.py --build $(BUILD) --rename '$(RENAME)' \
	    --expect '$(EXPECT)' --pages '$(PAGES)'

# qemu keeps a record of every page that a program reserves; with 8 GiB to reserve the emulator makes do with less device
# memory.
ARM := aarch64-linux-gnu
.PHONY: test-aarch64 host-tests
test-aarch64: ## the emulator built for ARM64, its unit tests and the tests in PTX under qemu-user
	@sh scripts/doctor.sh need $(ARM)-gcc qemu-aarch64 cmake ctest
	@$(MAKE) CC=$(ARM)-gcc BUILD=build-aarch64 PROGRAMS=build-aarch64 UNDER='qemu-aarch64 -R 8G -L /usr/$(ARM)' host-tests

host-tests: emulator $(DRIVER_PROGRAMS) $(UNITS) # the tests that need no CUDA compiler
	$(cmake_tests)
	@$(CTEST)

# ---------------------------------------------------------------- the mutants: tests/mutants/README.md
MUTANTS ?=
SCHEDULES ?= default
LEVEL ?= warn
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
JSON ?=
.PHONY: mutants
mutants: all ## one-line changes of the steps, and what the emulator reports (MUTANTS='05-* legal' SCHEDULES='default lazy' LEVEL=strict JOBS=2 JSON=file)
	@sh scripts/doctor.sh need python3
	@set -f; $(PYTHON) tests/mutants/mutants.py --build $(PROGRAMS) --schedules '$(SCHEDULES)' --level $(LEVEL) --jobs $(JOBS) \
	    $(if $(JSON),--json '$(JSON)') $(MUTANTS)

# ---------------------------------------------------------------- the public benchmark: benchmark/README.md
TOOL ?=
EXPLORE ?=
PAIRS ?=
BENCHMARK_OPTIONS = $(if $(filter command,$(origin LEVEL)),--level '$(LEVEL)') $(if $(EXPLORE),--explore '$(EXPLORE)') $(if $(JSON),--json '$(JSON)')
.PHONY: benchmark
benchmark: emulator $(PROGRAMS)/tests/negative/launch_ptx ## pairs of kernels, broken and fixed: what a tool reports (TOOL=sm100emu|compute-sanitizer|sentryward LEVEL=strict EXPLORE=20 PAIRS='proxy-* deadlock' JSON=file)
	@sh scripts/doctor.sh need python3
	@set -f; $(PYTHON) benchmark/benchmark.py --tool $(or $(TOOL),sm100emu) --build $(PROGRAMS) --jobs $(JOBS) --list $(BENCHMARK_OPTIONS) $(PAIRS)

.PHONY: benchmark-tables
benchmark-tables: ## write the tables of benchmark/README.md from benchmark/results and the labels
	@sh scripts/doctor.sh need python3
	@$(PYTHON) benchmark/table.py --write

# ---------------------------------------------------------------- silicon
.PHONY: record
record: $(filter $(PROGRAMS)/tests/silicon/%,$(DRIVER_PROGRAMS)) ## on a Hopper GPU: record its answers to tests/silicon in tests/silicon/h200 (FAMILY='tma bulk')
	@sh scripts/record.sh $(PROGRAMS) $(FAMILY)

# ---------------------------------------------------------------- speed
.PHONY: bench bench-emulator
bench: all $(PROGRAMS)/tests/bench/bench_cublas ## on a B200 or B300 the steps beside cuBLAS, table and plot (SIZES='1024 ...' RUNS=20 TYPE=f16); elsewhere bench-emulator
	@if [ "$(or $(BACKEND),$$(sh scripts/doctor.sh backend))" = gpu ]; then \
	    sh scripts/bench.sh $(BUILD)/bench.txt $(PROGRAMS)/tests/bench/bench_cublas $(STEPS:%=$(PROGRAMS)/%); \
	else \
	    echo "no B200 or B300 here, so nothing to measure the steps on: this is the emulator's speed on the CPU"; \
	    $(MAKE) bench-emulator; \
	fi

$(BUILD)/tests/bench_emulator: tests/bench/bench_emulator.c tests/bench/blas.h $(EMU)/libsm100emu.a $(EMU)/flags Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EMU_CFLAGS) -I tests $(SAN_LINK) $(LDFLAGS) $< $(EMU)/libsm100emu.a $(EMU_LIBS) -o $@

$(BUILD)/tests/bench_forms: tests/bench/bench_forms.c $(EMU)/libsm100emu.a $(EMU)/flags Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EMU_CFLAGS) -I tests $(SAN_LINK) $(LDFLAGS) $< $(EMU)/libsm100emu.a $(EMU_LIBS) -o $@

$(BUILD)/tests/bench_host: tests/bench/bench_host.c tests/bench/blas.h $(EMU)/flags Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EMU_CFLAGS) $(SAN_LINK) $(LDFLAGS) $< -ldl -o $@

ifneq ($(filter bench bench-emulator,$(MAKECMDGOALS)),)
ifeq ($(shell case '$(BENCH_SIZE)$(BENCH_RUNS)' in (''|*[!0-9]*|0*) ;; (*) [ $$(($(BENCH_SIZE) % 256)) = 0 ] && [ $(BENCH_SIZE) -le 16384 ] && [ $(BENCH_RUNS) -gt 0 ] && echo yes ;; esac),)
$(error BENCH_SIZE is a multiple of 256 up to 16384, BENCH_RUNS at least 1, not BENCH_SIZE='$(BENCH_SIZE)' BENCH_RUNS='$(BENCH_RUNS)')
endif
endif

bench-emulator: $(BUILD)/tests/bench_emulator $(BUILD)/tests/bench_forms $(BUILD)/tests/bench_host $(PROGRAMS)/tests/bench/plain all ## the emulator's speed beside OpenBLAS and plain C, by type, form, checks and threads: one minute (BENCH_SIZE=2048 BENCH_RUNS=3 BENCH_MEMORY=1 CSV=file)
	@CSV='$(CSV)' PROGRAMS=$(PROGRAMS) SIZE=$(BENCH_SIZE) RUNS=$(BENCH_RUNS) MEMORY=$(BENCH_MEMORY) $(PYTHON) scripts/bench_emulator.py $(BUILD) $(STEPS)

.PHONY: bench-forms
bench-forms: $(BUILD)/tests/bench_forms ## ns a warp instruction by form, checks off and default: ten seconds (FORM=word for the forms that contain it, CSV=file)
	@$< tests/silicon/known_good.txt '$(CSV)' $(FORM)

.PHONY: bench-compare
bench-compare: emulator $(PROGRAMS)/tests/bench/plain $(PROGRAMS)/tests/bench/plain_fast ## plain kernels under the emulator of BASE=commit and under this one, in turn (BENCH_RUNS=3 KERNELS='alu fp8' LEVELS='off warn strict' NEW_OPTIONS=--host-vectors=avx2 CSV=file)
	@sh scripts/doctor.sh need python3
	@RUNS='$(BENCH_RUNS)' KERNELS='$(KERNELS)' LEVELS='$(LEVELS)' NEW_OPTIONS='$(NEW_OPTIONS)' BASE_OPTIONS='$(BASE_OPTIONS)' CSV='$(CSV)' $(PYTHON) scripts/bench_compare.py $(BUILD) $(PROGRAMS) '$(BASE)'

# ---------------------------------------------------------------- the clock: what a B200 would take
.PHONY: clock
$(BUILD)/tests/clock/replay: tests/clock/replay.c $(EMU)/libsm100emu.a $(EMU)/flags Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(EMU_CFLAGS) $(SAN_LINK) $(LDFLAGS) $< $(EMU)/libsm100emu.a $(EMU_LIBS) -o $@

clock: all $(BUILD)/tests/clock/replay $(PROGRAMS)/tests/clock/mainloop $(PROGRAMS)/tests/clock/tma ## the clock's predictions beside published figures of a B200: the tables of docs/performance.md (LADDER=program: tests/clock/ladder/README.md)
	@sh scripts/doctor.sh need python3
	@$(PYTHON) tests/clock/predict.py $(if $(LADDER),--ladder=$(LADDER))
	@$(PYTHON) tests/clock/rungs.py
	@$(PYTHON) tests/clock/assumed.py

# ---------------------------------------------------------------- the rest
doctor: ## what this machine has, what it lacks, and where a step would run
	@sh scripts/doctor.sh

format: ## rewrite the sources with clang-format
	@sh scripts/doctor.sh need clang-format
	@git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 clang-format -i

lint: ## findings of clang-format and clang-tidy, and functions, files, lines and rooms that are too large; changes nothing
	@sh scripts/lint.sh

machines: ## as root on Debian: other systems, compilers, shells, languages, each with the README's packages alone (ONLY='sid gawk' MACHINES=folder WHEELS=dir)
	@sh scripts/doctor.sh need python3 pip
	@$(PYTHON) scripts/machines.py $(if $(MACHINES),--folder '$(MACHINES)') $(if $(WHEELS),--wheels '$(WHEELS)') $(ONLY)

layers: ## prove from the #include lines that the emulator's rooms depend one way
	@$(PYTHON) scripts/layers.py .

# Of the steps with a UMMA in them.
sass: $(patsubst %,$(PROGRAMS)/%,$(filter-out 01_%,$(STEPS))) ## the steps' loops in machine code, beside those of CUTLASS's example 70 (fetches cuobjdump and nvdisasm, 5 MB)
	@tools=$$(sh scripts/toolkit.sh disassembler) && PATH="$$tools:$$PATH" $(PYTHON) scripts/sass.py scripts/sass-cutlass.txt $^

DIAGNOSTICS = $(PYTHON) diagnostics $(BUILD)/sm100emu-rules
rules: docs/diagnostics.md ## list every diagnostic: its id, class, section, place and tests; and write docs/diagnostics.md
	@$(DIAGNOSTICS) list

.PHONY: docs/diagnostics.md
docs/diagnostics.md: emulator $(BUILD)/sm100emu-rules
	@sh scripts/doctor.sh need python3
	@$(MAKE) $$($(DIAGNOSTICS) programs | sed 's|[^ ]*|$(PROGRAMS)/&|g')
	@SAN_LIB='$(SAN_LIB)' $(DIAGNOSTICS) write $(BUILD)/sm100emu $(PROGRAMS)

FUZZ_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
# Only the reader of fat binaries is watched for what it compares: magic numbers are to be found there alone, and the
# watching takes half of the time.
ifneq ($(findstring fuzzer,$(SAN_FLAGS)),)
$(EMU)/obj/%.o: EMU_CFLAGS += $(if $(filter cudart/loader/%,$*),,-fno-sanitize-coverage=trace-cmp)
endif

fuzz: all $(patsubst %.cu,$(PROGRAMS)/%,$(wildcard tests/steps/*.cu)) ## libFuzzer (clang) on every tests/fuzz/fuzz_*.c, and allocations that fail, FUZZ_SECONDS=600 each
	@CC= sh scripts/doctor.sh need clang
	@$(MAKE) CC=clang BUILD=build-fuzz OPT='-O1 -g' SAN_FLAGS='$(FUZZ_FLAGS)' build-fuzz/emulator/libsm100emu.a
	@sh scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS)

clean: ## remove what was built
	rm -rf build build-asan build-tsan build-aarch64 build-fuzz

distclean: clean ## remove the fetched toolkit too
	rm -rf .toolkit

FORCE:

ifneq ($(COUNT),)
SHELL := true
endif
