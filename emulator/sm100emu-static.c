/* libsm100emu-static.so - puts the emulator in the place of a CUDA runtime that is linked into a program.
 *
 * The launcher names it in LD_PRELOAD. Its constructor runs before those of the program and of its libraries
 * (DF_1_INITFIRST), so before a kernel is registered. It reads the files of the program and of its libraries; in each
 * that has a static runtime, it writes a jump to the emulator's function at the entry of each of the runtime's
 * functions (cudart/loader/static.h). Only then is the emulator loaded: other processes pay for a look at a few
 * section headers. The same is done with libraries that are opened later, before their constructors run
 * (list_changed).
 *
 * Code pages are writable only while they are written, and not executable then. Nothing is written but in code of the
 * object itself, at places where memory holds what the file holds, and over the one function of the loader that is
 * there to be replaced. What cannot be done for a program ends it with a sentence and 126, as in the launcher, before
 * any of its code has run.
 */
#include "cudart/loader/static.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EMULATOR "libsm100emu.so"
#define CANNOT_RUN 126

/* One program or library in memory, its file, and the runtime in it. */
struct object {
    bool program; /* not a library */
    const char *name, *path;
    uint64_t base; /* what the loader added to the addresses of the file */
    const ElfW(Phdr) * segments;
    unsigned num_segments;
    void *bytes;
    size_t size;
};

/* Of the object at hand. */
static struct static_runtime runtime;
static void *targets[STATIC_MAX_FUNCTIONS];

__attribute__((format(printf, 2, 3))) static _Noreturn void stop(const struct object *o, const char *format, ...) {
    char why[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    dprintf(STDERR_FILENO, "sm100emu: %s: %s\n", o->name, why);
    _exit(CANNOT_RUN);
}

/* Maps the object's file. False: there is none, as for the kernel's own object. */
static bool map_file(struct object *o) {
    struct stat st;
    int fd = open(o->path, O_RDONLY | O_CLOEXEC);
    o->bytes = MAP_FAILED;
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        o->size = (size_t)st.st_size;
        o->bytes = mmap(NULL, o->size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return o->bytes != MAP_FAILED;
}

/* The emulator, from the folder of this library, in no program's scope: only the jumps lead to it. */
static void *load_emulator(const struct object *o) {
    Dl_info self;
    char path[PATH_MAX];
    const char *slash = dladdr(&runtime, &self) ? strrchr(self.dli_fname, '/') : NULL;
    if (slash == NULL || snprintf(path, sizeof path, "%.*s/" EMULATOR, (int)(slash - self.dli_fname), self.dli_fname) >=
                             (int)sizeof path)
        stop(o, "cannot find the folder of the emulator");
    void *emulator = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (emulator == NULL)
        stop(o, "%s", dlerror());
    return emulator;
}

/* The emulator's function of this name for the runtime's version, or NULL: the function is the program's own. */
static void *target_of(void *emulator, const struct object *o, const struct static_function *fn) {
    void *target = dlvsym(emulator, fn->name, runtime.version < 13000 ? "libcudart.so.12" : "libcudart.so.13");
    if (target != NULL && fn->fit == STATIC_NARROW)
        stop(o,
             "%s of its static CUDA runtime is too short for a jump: build it with NVCC_APPEND_FLAGS='-cudart shared'",
             fn->name);
    if (target != NULL && fn->fit == STATIC_SHARED)
        stop(o, "%s of its static CUDA runtime and another function are one: link it without --icf=all", fn->name);
    return target;
}

/* The code segment that has all of this function's room, or NULL. */
static const ElfW(Phdr) * segment_of(const struct object *o, const struct static_function *fn) {
    for (unsigned i = 0; i < o->num_segments; i++) {
        const ElfW(Phdr) *p = &o->segments[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) != 0 && fn->address >= p->p_vaddr &&
            fn->address - p->p_vaddr <= p->p_filesz && fn->room <= p->p_filesz - (fn->address - p->p_vaddr))
            return p;
    }
    return NULL;
}

static void protect(const struct object *o, uint64_t first, uint64_t end, int protection) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = first / page * page;
    if (mprotect((void *)from, (end - from + page - 1) / page * page, protection) != 0)
        stop(o,
             "the host does not allow changes to the code of the static CUDA runtime (%s): build it with "
             "NVCC_APPEND_FLAGS='-cudart shared'",
             strerror(errno));
}

/* Writes the jumps of functions first to end - 1, all of one segment. */
static void write_jumps(const struct object *o, const ElfW(Phdr) * segment, uint32_t first, uint32_t end) {
    const struct static_function *last = &runtime.functions[end - 1];
    uint64_t from = o->base + runtime.functions[first].address, to = o->base + last->address + last->room;
    protect(o, from, to, PROT_READ | PROT_WRITE);
    for (uint32_t i = first; i < end; i++) {
        const struct static_function *fn = &runtime.functions[i];
        uint8_t jump[STATIC_JUMP_MAX], *code = (uint8_t *)(o->base + fn->address);
        if (targets[i] == NULL || fn->fit != STATIC_FITS)
            continue;
        if (memcmp(code, fn->code, fn->room) != 0)
            stop(o, "%s of its static CUDA runtime is not in memory as in the file", fn->name);
        memcpy(code, jump, static_jump(fn, (uint64_t)targets[i], jump));
    }
    uint32_t may = segment->p_flags;
    protect(o, from, to, PROT_EXEC | (may & PF_R ? PROT_READ : 0) | (may & PF_W ? PROT_WRITE : 0));
    __builtin___clear_cache((char *)from, (char *)to);
}

static void take_place(const struct object *o) {
    char why[512];
    enum static_verdict verdict = static_read(o->bytes, o->size, &runtime, why, sizeof why);
    if (verdict == STATIC_UNFIT && o->program)
        stop(o, "%s", why);
    if (verdict == STATIC_UNFIT) /* the program may never call it */
        dprintf(STDERR_FILENO, "sm100emu: %s: %s. Its CUDA calls will fail\n", o->name, why);
    if (verdict != STATIC_FOUND)
        return;
    void *emulator = load_emulator(o);
    for (uint32_t i = 0; i < runtime.count; i++)
        targets[i] = target_of(emulator, o, &runtime.functions[i]);
    for (uint32_t i = 0, end; i < runtime.count; i = end) {
        const ElfW(Phdr) *segment = segment_of(o, &runtime.functions[i]);
        if (segment == NULL)
            stop(o, "%s of its static CUDA runtime is not in memory as in the file", runtime.functions[i].name);
        for (end = i + 1; end < runtime.count && segment_of(o, &runtime.functions[end]) == segment;)
            end++;
        write_jumps(o, segment, i, end);
    }
}

#define MAX_OBJECTS 1024u
struct objects {
    struct object list[MAX_OBJECTS];
    unsigned count;
};

/* Called by the loader for the program first, then for each library. Those beyond the list are not looked at, which
 * it says once. */
static int note(struct dl_phdr_info *info, size_t size, void *list) {
    struct objects *all = list;
    const bool program = all->count == 0;
    (void)size;
    if (all->count == MAX_OBJECTS) {
        static bool told;
        if (!told)
            dprintf(STDERR_FILENO,
                    "sm100emu: %s: only its first %u libraries are looked at for a static CUDA runtime, "
                    "not %s\n",
                    program_invocation_name, MAX_OBJECTS - 1, info->dlpi_name);
        told = true;
        return 1;
    }
    all->list[all->count++] = (struct object){.program = program,
                                              .name = program ? program_invocation_name : info->dlpi_name,
                                              .path = program ? "/proc/self/exe" : info->dlpi_name,
                                              .base = info->dlpi_addr,
                                              .segments = info->dlpi_phdr,
                                              .num_segments = info->dlpi_phnum};
    return 0;
}

/* The program headers of what has been looked at and is still loaded: each object has its own. */
static const ElfW(Phdr) * known[MAX_OBJECTS];
static unsigned num_known;

static bool is_known(const struct object *o) {
    for (unsigned i = 0; i < num_known; i++)
        if (known[i] == o->segments)
            return true;
    return false;
}

/* Looks at what has been loaded since the last time. The list is made first: no library can be loaded while the loader
 * goes through its own. */
static void look(void) {
    struct objects *all = calloc(1, sizeof *all);
    if (all == NULL)
        return; /* the program will say so itself */
    dl_iterate_phdr(note, all);
    for (unsigned i = 0; i < all->count; i++)
        if (!is_known(&all->list[i]) && map_file(&all->list[i])) {
            take_place(&all->list[i]);
            munmap(all->list[i].bytes, all->list[i].size);
        }
    for (num_known = 0; num_known < all->count; num_known++)
        known[num_known] = all->list[num_known].segments;
    free(all);
}

/* What the loader calls for debuggers (link.h, r_brk), with its lock held: before and after its list of objects
 * changes, and then before the constructors of new ones. */
static void list_changed(void) {
    static bool busy; /* load_emulator changes the list, too */
    if (busy || _r_debug.r_state != RT_CONSISTENT)
        return;
    busy = true;
    look();
    busy = false;
}

/* The code of that function, which does nothing, and a jump in its place; false if it is another than expected. It is
 * short, so the jump is, and leads only to what is near; libraries are loaded beside the loader. */
static bool jump_from(const uint8_t *hook, int64_t distance, uint8_t *jump, size_t *n) {
#if defined(__x86_64__)
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
    static const uint8_t padding[] = {0x66, 0x0f, 0x90, 0xcc};
    const uint8_t *ret = hook + (memcmp(hook, landing, sizeof landing) == 0 ? sizeof landing : 0);
    const int32_t relative = (int32_t)(distance - 5);
    if ((uint64_t)hook % 16 != 0 || ret[0] != 0xc3 /* ret */ || !memchr(padding, ret[1], sizeof padding) ||
        relative != distance - 5)
        return false;
    jump[0] = 0xe9; /* jmp rel32 */
    memcpy(jump + 1, &relative, sizeof relative);
    *n = 5;
    return true;
#else
    const uint32_t ret = 0xd65f03c0, b = 0x14000000u | ((uint32_t)(distance >> 2) & 0x3ffffffu);
    if (memcmp(hook, &ret, sizeof ret) != 0 || distance != (int64_t)((uint64_t)distance << 36) >> 36)
        return false;
    memcpy(jump, &b, sizeof b);
    *n = sizeof b;
    return true;
#endif
}

/* Libraries that are opened later (dlopen, Python's modules): list_changed is called instead of the loader's function.
 * Where that cannot be, their CUDA calls meet the driver, which says so. The loader's page is replaced by a copy with
 * the jump in it, and only if the kernel lets that copy be executed: systemd's MemoryDenyWriteExecute does not, and no
 * program could go on without the loader's code. */
static void watch_list(void) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint8_t *hook = (uint8_t *)_r_debug.r_brk, jump[8];
    uint8_t *start = (uint8_t *)((uint64_t)hook / page * page);
    size_t n;
    if (hook == NULL || (uint64_t)hook % page > page - 16 ||
        !jump_from(hook, (int64_t)((uint64_t)list_changed - (uint64_t)hook), jump, &n))
        return;
    uint8_t *copy = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, start, page);
    memcpy(copy + (hook - start), jump, n);
    if (mprotect(copy, page, PROT_READ | PROT_EXEC) != 0 ||
        mremap(copy, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, start) == MAP_FAILED) {
        munmap(copy, page);
        return;
    }
    __builtin___clear_cache((char *)hook, (char *)hook + n);
}

/* This constructor comes before libc's, which a dlopen calls with what libc knows by then: nothing. So it is told. */
static void tell_libc(char **argv, char **envp) {
#ifdef __GLIBC__ /* which hands these to constructors */
    if (environ != NULL || envp == NULL || argv == NULL || argv[0] == NULL)
        return;
    const char *slash = strrchr(argv[0], '/');
    environ = envp;
    program_invocation_name = argv[0];
    program_invocation_short_name = argv[0] + (slash != NULL ? slash - argv[0] + 1 : 0);
#else
    (void)argv, (void)envp;
#endif
}

__attribute__((constructor)) static void before_the_program(int argc, char **argv, char **envp) {
    (void)argc;
    tell_libc(argv, envp);
    look();
    watch_list();
}
