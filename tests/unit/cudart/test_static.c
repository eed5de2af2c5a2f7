/* A static CUDA runtime inside a program: what is found in .symtab, what is refused, the jump, and files that lie. */
#include "check.h"
#include "cudart/loader/elf.h"
#include "cudart/loader/static.h"

#include <elf.h>
#include <sys/mman.h>

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#define JUMP 16u
static const uint8_t returns_0[8] = {0x00, 0x00, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6}; /* mov x0, #0; ret */
static const uint8_t landing[4] = {0x5f, 0x24, 0x03, 0xd5};                           /* bti c */
#else
#define MACHINE EM_X86_64
#define JUMP 13u
static const uint8_t returns_0[3] = {0x31, 0xc0, 0xc3};     /* xor eax, eax; ret */
static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
#endif

/* One segment of code maps the file at BASE: the header, functions of ROOM bytes each, then tables. */
enum {
    BASE = 0x10000,
    CODE = 0x400,
    ROOM = 32,
    MAX_FUNCTIONS = 40,
    SYMTAB = 0x1000,
    STRINGS = 0x2000,
    SECTIONS = 0x3000
};
struct program {
    uint8_t bytes[0x4000];
    Elf64_Sym symbols[MAX_FUNCTIONS + 1];
    size_t strings, count;
    bool fatbin, shared;
    size_t symbols_from; /* only symbols from this one on are in the file: the others are stripped */
};

static const char *const names[] = {"__cudaRegisterFatBinary",
                                    "__cudaPushCallConfiguration",
                                    "__cudaRegisterFunction",
                                    "__cudaRegisterVar",
                                    "cudaFree",
                                    "cudaGetLastError",
                                    "cudaLaunchKernel",
                                    "cudaMalloc",
                                    "cudaMemcpy",
                                    "cudaRuntimeGetVersion"};
enum { NUM_NAMES = sizeof names / sizeof names[0], GETTER = NUM_NAMES };

static uint8_t *code_of(struct program *p, size_t i) { return p->bytes + CODE + i * ROOM; }

static Elf64_Sym *add(struct program *p, const char *name, uint64_t address, uint64_t size) {
    Elf64_Sym *s = &p->symbols[++p->count];
    *s = (Elf64_Sym){.st_name = (Elf64_Word)p->strings,
                     .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                     .st_shndx = 1,
                     .st_value = address,
                     .st_size = size};
    strcpy((char *)p->bytes + STRINGS + p->strings, name);
    p->strings += strlen(name) + 1;
    return s;
}

/* cudaRuntimeGetVersion as NVIDIA's compiler leaves it: a call of the function that stores the constant. */
static void put_version(struct program *p, int version) {
    uint8_t *from = code_of(p, NUM_NAMES - 1), *getter = code_of(p, GETTER);
#if defined(__aarch64__)
    uint32_t call = 0x94000000u | ROOM / 4;
    const uint32_t code[] = {0xb40000a0u, 0x52800002u | (uint32_t)version << 5, 0x52800000u, 0xb9000022u, 0xd65f03c0u};
    memcpy(from, &call, sizeof call);
#else
    const uint8_t call[] = {0xe8, ROOM - 5, 0, 0, 0, 0xc3};
    uint8_t code[] = {0x48, 0x85, 0xff, 0x74, 0x0b, 0xc7, 0x07, 0, 0, 0, 0, 0x31, 0xc0, 0xc3};
    memcpy(code + 7, &version, sizeof version);
    memcpy(from, call, sizeof call);
#endif
    memcpy(getter, code, sizeof code);
}

static void begin(struct program *p, int version) {
    memset(p, 0, sizeof *p);
    p->strings = 1;
    p->fatbin = true;
    for (size_t i = 0; i < NUM_NAMES; i++)
        add(p, names[i], BASE + CODE + i * ROOM, ROOM);
    put_version(p, version);
}

static void finish(struct program *p) {
    static const char section_names[] = "\0.symtab\0.nvFatBinSegment\0.dynsym\0";
    Elf64_Ehdr h = {.e_type = ET_DYN,
                    .e_machine = MACHINE,
                    .e_phoff = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1,
                    .e_shoff = SECTIONS,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 6,
                    .e_shstrndx = 5};
    Elf64_Phdr load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE, .p_filesz = SYMTAB - 8};
    size_t at = p->strings, first = p->symbols_from, bytes = (p->count + 1 - first) * sizeof(Elf64_Sym);
    memcpy(p->bytes + STRINGS + at, section_names, sizeof section_names);
    Elf64_Shdr s[6] = {[2] = {.sh_name = (Elf64_Word)at + 1,
                              .sh_type = SHT_SYMTAB,
                              .sh_offset = SYMTAB,
                              .sh_size = bytes,
                              .sh_link = 5},
                       [3] = {.sh_name = (Elf64_Word)(p->fatbin ? at + 9 : 0), .sh_type = SHT_PROGBITS},
                       [4] = {.sh_name = (Elf64_Word)at + 26,
                              .sh_type = SHT_DYNSYM,
                              .sh_offset = SYMTAB,
                              .sh_link = 5,
                              .sh_size = p->shared ? bytes : 0},
                       [5] = {.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = at + sizeof section_names}};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(p->bytes, &h, sizeof h);
    memcpy(p->bytes + sizeof h, &load, sizeof load);
    memcpy(p->bytes + SYMTAB, p->symbols + first, bytes);
    memcpy(p->bytes + SECTIONS, s, sizeof s);
}

static struct static_runtime runtime;
static char why[512];

/* Reads a copy that ends where its allocation ends, and holds the result to what static.h promises. */
static enum static_verdict read_bytes(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    why[0] = 0;
    enum static_verdict verdict = static_read(copy, size, &runtime, why, sizeof why);
    CHECK_EQ(verdict == STATIC_UNFIT, why[0] != 0);
    for (uint32_t i = 0; verdict == STATIC_FOUND && i < runtime.count; i++) {
        const struct static_function *f = &runtime.functions[i];
        CHECK(f->code >= copy && f->code + f->room <= copy + size);
        CHECK(i == 0 || f[-1].address == f->address || f[-1].address + f[-1].room <= f->address);
        CHECK(f->fit != STATIC_FITS || f->room >= JUMP);
    }
    free(copy);
    return verdict;
}

static enum static_verdict read_program(struct program *p) {
    finish(p);
    return read_bytes(p->bytes, sizeof p->bytes);
}

static const struct static_function *at(uint64_t address) {
    for (uint32_t i = 0; i < runtime.count; i++)
        if (runtime.functions[i].address == address)
            return &runtime.functions[i];
    return NULL;
}

static void test_versions(void) {
    static const int good[] = {12000, 12040, 12090, 13000, 13050}, bad[] = {11080, 12100, 13060, 14000};
    struct program p;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        begin(&p, good[i]);
        CHECK_EQ(read_program(&p), STATIC_FOUND);
        CHECK_EQ(runtime.version, good[i]);
        CHECK_EQ(runtime.count, NUM_NAMES);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char version[32];
        snprintf(version, sizeof version, "runtime %d.%d ", bad[i] / 1000, bad[i] % 1000 / 10);
        begin(&p, bad[i]);
        CHECK_EQ(read_program(&p), STATIC_UNFIT);
        CHECK_HAS(why, version);
    }
    begin(&p, 13000);
    memset(code_of(&p, GETTER), 0, ROOM);
    CHECK_EQ(read_program(&p), STATIC_UNFIT);
    CHECK_HAS(why, "unknown version");
}

static void test_others(void) {
    struct program p;
    begin(&p, 13000); /* what exports the functions, or imports them, is a shared runtime's */
    p.shared = true;
    CHECK_EQ(read_program(&p), STATIC_NONE);
    begin(&p, 13000); /* all symbols stripped */
    p.symbols_from = p.count;
    p.symbols[p.count].st_name = 0;
    CHECK_EQ(read_program(&p), STATIC_UNFIT);
    CHECK_HAS(why, "NVCC_APPEND_FLAGS='-cudart shared'");
    CHECK_HAS(why, "without -s");
    begin(&p, 13000); /* the same without kernels is no CUDA program */
    p.symbols_from = p.count;
    p.symbols[p.count].st_name = 0;
    p.fatbin = false;
    CHECK_EQ(read_program(&p), STATIC_NONE);
    for (size_t i = 1; i < NUM_NAMES; i++) { /* strip -x takes what is called */
        begin(&p, 13000);
        p.symbols[i + 1].st_name = 0;
        CHECK_EQ(read_program(&p), STATIC_UNFIT);
        CHECK_HAS(why, names[i]);
    }
    begin(&p, 13000);
    finish(&p);
    p.bytes[offsetof(Elf64_Ehdr, e_machine)] ^= 1;
    CHECK_EQ(read_bytes(p.bytes, sizeof p.bytes), STATIC_NONE);
}

/* Room: up to the next symbol, within the code; functions that share their entry; others of the program's own. */
static void test_rooms(void) {
    const uint64_t malloc_at = BASE + CODE + 7 * ROOM;
    struct program p;
    begin(&p, 13000);
    add(&p, "inside", malloc_at + 4, 1)->st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);
    add(&p, "cudaMalloc", malloc_at, ROOM); /* found twice */
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(runtime.count, NUM_NAMES);
    CHECK_EQ(at(malloc_at)->room, 4);
    CHECK_EQ(at(malloc_at)->fit, STATIC_NARROW);
    memcpy(code_of(&p, 7), returns_0, sizeof returns_0);
    p.symbols[p.count - 1].st_value = malloc_at + sizeof returns_0;
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(at(malloc_at)->fit, STATIC_HARMLESS);
    begin(&p, 13000);
    add(&p, "cudaMemset", malloc_at, ROOM);
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(at(malloc_at)->fit, STATIC_SHARED);
    CHECK_EQ(at(malloc_at)[1].fit, STATIC_SHARED);
    begin(&p, 13000);
    add(&p, "cudaData", BASE + SYMTAB, ROOM);                 /* behind the code */
    add(&p, "cudaLate", BASE + SYMTAB - 8, ROOM);             /* across its end */
    add(&p, "cudaFar", UINT64_MAX - 8, ROOM);                 /* nowhere */
    add(&p, "cudaHuge", BASE + CODE + 20 * ROOM, UINT64_MAX); /* too large */
    add(&p, "cudaEmpty", BASE + CODE + 21 * ROOM, 0);         /* a label */
    add(&p, "cudaGone", BASE + CODE + 22 * ROOM, ROOM)->st_shndx = SHN_UNDEF;
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(runtime.count, NUM_NAMES);
    char name[ELF_MAX_NAME + 1] = "cuda"; /* longer than any of a runtime's: a file may have a million of it */
    memset(name + 4, 'a', sizeof name - 5);
    begin(&p, 13000);
    add(&p, name, BASE + CODE + 20 * ROOM, ROOM);
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(runtime.count, NUM_NAMES);
    name[ELF_MAX_NAME - 1] = 0;
    begin(&p, 13000);
    add(&p, name, BASE + CODE + 20 * ROOM, ROOM);
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(runtime.count, NUM_NAMES + 1);
    begin(&p, 13000);
    add(&p, "cudaLast", BASE + SYMTAB - 16, 8); /* no padding up to the end */
    CHECK_EQ(read_program(&p), STATIC_FOUND);
    CHECK_EQ(runtime.count, NUM_NAMES + 1);
    CHECK_EQ(at(BASE + SYMTAB - 16)->room, 8);
}

static int answer(void) { return 42; }

/* The jump is run, from a function with a landing pad and from one without. */
static void test_jump(void) {
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(page != MAP_FAILED))
        return;
    memset(page, 0xff, 4096); /* no instruction */
    memcpy(page + 64, landing, sizeof landing);
    memcpy(page + 128, landing, sizeof landing);
    const uint64_t rooms[] = {JUMP, JUMP + 4, JUMP};
    for (unsigned i = 0; i < 3; i++) {
        struct static_function f = {.code = page + 64 * i, .room = rooms[i]};
        uint8_t jump[STATIC_JUMP_MAX];
        size_t n = static_jump(&f, (uint64_t)answer, jump);
        CHECK_EQ(n, rooms[i]);
        memcpy(page + 64 * i, jump, n);
    }
    CHECK(memcmp(page + 64, landing, sizeof landing) == 0 && memcmp(page + 128, landing, sizeof landing) != 0);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)page, (char *)page + 4096);
    for (unsigned i = 0; i < 3; i++) {
        int (*from)(void);
        uint8_t *entry = page + 64 * i;
        memcpy(&from, &entry, sizeof from);
        CHECK_EQ(from(), 42);
    }
    munmap(page, 4096);
}

/* Truncations and flipped bits must not read outside; the sanitiser watches. */
static void test_hostile(void) {
    struct program p;
    begin(&p, 13000);
    finish(&p);
    for (size_t n = 0; n < sizeof p.bytes; n += n < SYMTAB ? 7 : 64)
        read_bytes(p.bytes, n);
    const struct program good = p;
    const size_t from[] = {0, SYMTAB, SECTIONS}, bytes[] = {128, 12 * sizeof(Elf64_Sym), 6 * sizeof(Elf64_Shdr)};
    for (unsigned k = 0; k < 3; k++)
        for (size_t i = 0; i < bytes[k] * 8; i++) {
            p = good;
            p.bytes[from[k] + i / 8] ^= (uint8_t)(1 << i % 8);
            read_bytes(p.bytes, sizeof p.bytes);
        }
}

/* More functions than there is room for in the result. */
static void test_many(void) {
    enum { MANY = STATIC_MAX_FUNCTIONS + 1, SIZE = SYMTAB + MANY * sizeof(Elf64_Sym) };
    struct program p;
    begin(&p, 13000);
    finish(&p);
    uint8_t *bytes = calloc(1, sizeof p.bytes + SIZE);
    memcpy(bytes, p.bytes, sizeof p.bytes);
    Elf64_Shdr s;
    memcpy(&s, bytes + SECTIONS + 2 * sizeof s, sizeof s);
    s.sh_offset = sizeof p.bytes;
    s.sh_size = MANY * sizeof(Elf64_Sym);
    memcpy(bytes + SECTIONS + 2 * sizeof s, &s, sizeof s);
    for (unsigned i = 0; i < MANY; i++)
        memcpy(bytes + sizeof p.bytes + i * sizeof(Elf64_Sym), &p.symbols[1], sizeof p.symbols[1]);
    CHECK_EQ(read_bytes(bytes, sizeof p.bytes + SIZE), STATIC_UNFIT);
    CHECK_HAS(why, "more functions");
    free(bytes);
}

int main(void) {
    test_versions();
    test_others();
    test_rooms();
    test_jump();
    test_hostile();
    test_many();
    return check_report();
}
