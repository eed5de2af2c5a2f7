/* A static CUDA runtime inside a program; contract in static.h. */
#include "cudart/loader/static.h"

#include "cudart/loader/elf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER "__cudaRegisterFatBinary"
#define VERSION "cudaRuntimeGetVersion"

/* Of the functions of every runtime, those without which nothing runs. The archive is one object file: a program has
 * all functions or none, but strip -x takes those that the program calls. */
static const char *const needed[] = {"__cudaPushCallConfiguration",
                                     "__cudaRegisterFunction",
                                     "__cudaRegisterVar",
                                     "cudaFree",
                                     "cudaGetLastError",
                                     "cudaLaunchKernel",
                                     "cudaMalloc",
                                     "cudaMemcpy",
                                     VERSION};

/* The code of each machine: the jump, the constant that cudaRuntimeGetVersion returns, and the one function that has no
 * room for a jump. */
#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#define ALIGNMENT 16u                                      /* of functions: what is behind a shorter one is padding */
static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64: where an indirect call may land */
static const uint8_t jump_head[] = {0x49, 0xbb};           /* movabs r11, imm64; the ABI gives r11 to such code */
static const uint8_t jump_tail[] = {0x41, 0xff, 0xe3};     /* jmp *r11 */

/* A direct call: call rel32. */
static bool call_at(const uint8_t *p, uint64_t n, uint64_t *length, int64_t *distance) {
    int32_t relative;
    *length = 1;
    if (n < 5 || p[0] != 0xe8)
        return false;
    memcpy(&relative, p + 1, sizeof relative);
    *distance = (int64_t)relative + 5;
    return true;
}

/* movl $imm32, (%rdi) */
static int stored_at(const uint8_t *p) {
    int32_t value;
    memcpy(&value, p + 2, sizeof value);
    return p[0] == 0xc7 && p[1] == 0x07 ? value : 0;
}

static bool returns_at_once(const uint8_t *code, uint64_t n) {
    return n >= 3 && code[0] == 0x31 && code[1] == 0xc0 && code[2] == 0xc3; /* xor eax, eax; ret */
}
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#define ALIGNMENT 4u
static const uint8_t landing[] = {0x5f, 0x24, 0x03, 0xd5};                           /* bti c */
static const uint8_t jump_head[] = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6}; /* ldr x16, .+8; br x16 */
static const uint8_t jump_tail[] = {0};                                              /* none: the address is the end */
#define JUMP_TAIL 0u

static uint32_t word(const uint8_t *p) {
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* bl imm26 */
static bool call_at(const uint8_t *p, uint64_t n, uint64_t *length, int64_t *distance) {
    *length = 4;
    if (n < 4 || word(p) >> 26 != 0x25)
        return false;
    *distance = (int64_t)(int32_t)(word(p) << 6) >> 4;
    return true;
}

/* movz wN, #imm16, and behind the next instruction str wN, [x1] */
static int stored_at(const uint8_t *p) {
    uint32_t move = word(p), store = word(p + 8), n = move & 31;
    return move >> 21 == 0x52800000 >> 21 && store == (0xb9000020 | n) ? (int)(move >> 5 & 0xffff) : 0;
}

static bool returns_at_once(const uint8_t *code, uint64_t n) {
    return n >= 8 && word(code) == 0xd2800000 && word(code + 4) == 0xd65f03c0; /* mov x0, #0; ret */
}
#else
#error "the emulator runs on x86-64 and aarch64"
#endif
#ifndef JUMP_TAIL
#define JUMP_TAIL sizeof jump_tail
#endif
#define JUMP (sizeof jump_head + 8 + JUMP_TAIL)
_Static_assert(sizeof landing + JUMP <= STATIC_JUMP_MAX, "raise STATIC_JUMP_MAX");

/* Where the version is looked for: cudaRuntimeGetVersion has some 450 bytes, and the function that it calls stores the
 * constant in its first instructions. */
#define CALLER 4096u
#define CALLEE 32u

static enum static_verdict stripped(char *why, size_t why_size, const char *name) {
    snprintf(why, why_size,
             "links the CUDA runtime statically and was stripped of its symbols (%s), so the emulator cannot take the "
             "runtime's place: build it with NVCC_APPEND_FLAGS='-cudart shared', or link it again without -s or strip",
             name);
    return STATIC_UNFIT;
}

/* Tables of the file that matter here. */
struct tables {
    bool fatbin;                                              /* it has kernels */
    Elf64_Shdr symbols, symbol_names, dynamic, dynamic_names; /* .symtab and .dynsym */
};

static void find_tables(const struct elf_file *f, struct tables *t) {
    Elf64_Shdr names, s;
    memset(t, 0, sizeof *t);
    if (!elf_section(f, f->header.e_shstrndx, &names))
        return;
    for (unsigned i = 0; i < f->header.e_shnum && elf_section(f, i, &s); i++) {
        t->fatbin |= strcmp(elf_name(f, &names, s.sh_name), ".nvFatBinSegment") == 0;
        if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM)
            continue;
        bool own = s.sh_type == SHT_SYMTAB;
        if (!elf_holds(f, s.sh_offset, s.sh_size) ||
            !elf_section(f, s.sh_link, own ? &t->symbol_names : &t->dynamic_names))
            continue;
        *(own ? &t->symbols : &t->dynamic) = s;
    }
}

static bool symbol_at(const struct elf_file *f, const Elf64_Shdr *table, uint64_t i, Elf64_Sym *symbol) {
    return i < table->sh_size / sizeof *symbol &&
           elf_entry(f, table->sh_offset, sizeof *symbol, i, symbol, sizeof *symbol);
}

static bool defined(const Elf64_Sym *symbol) {
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
}

/* A shared runtime: this file is it, or asks for it. A static one's functions are hidden, so .dynsym has none. */
static bool shared_runtime(const struct elf_file *f, const struct tables *t) {
    Elf64_Sym s;
    for (uint64_t i = 0; symbol_at(f, &t->dynamic, i, &s); i++)
        if (strcmp(elf_name(f, &t->dynamic_names, s.st_name), REGISTER) == 0)
            return true;
    return false;
}

/* The functions whose names are those of a runtime's, or look like them. False: more than there can be. */
static bool collect(const struct elf_file *f, const struct tables *t, struct static_runtime *r) {
    Elf64_Sym s;
    for (uint64_t i = 0; symbol_at(f, &t->symbols, i, &s); i++) {
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || !defined(&s) || s.st_size == 0)
            continue;
        const char *name = elf_name(f, &t->symbol_names, s.st_name);
        if (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0)
            continue;
        if (r->count == STATIC_MAX_FUNCTIONS)
            return false;
        const uint8_t *code = elf_code(f, s.st_value, s.st_size);
        uint64_t padded = s.st_value % ALIGNMENT == 0 ? (s.st_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : s.st_size;
        if (padded < s.st_size || elf_code(f, s.st_value, padded) == NULL)
            padded = s.st_size; /* at the end of the code */
        if (code != NULL)
            r->functions[r->count++] = (struct static_function){name, code, s.st_value, padded, STATIC_FITS};
    }
    return true;
}

static int by_address(const void *a, const void *b) {
    const struct static_function *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address ? 1 : strcmp(x->name, y->name);
}

/* The last function below this address, or NULL. */
static struct static_function *before(struct static_runtime *r, uint64_t address) {
    uint32_t low = 0, high = r->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->functions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &r->functions[low - 1] : NULL;
}

/* Room ends where any other symbol begins. */
static void limit_room(const struct elf_file *f, const struct tables *t, struct static_runtime *r) {
    Elf64_Sym s;
    for (uint64_t i = 0; symbol_at(f, &t->symbols, i, &s); i++) {
        struct static_function *last = defined(&s) ? before(r, s.st_value) : NULL;
        if (last != NULL && s.st_value - last->address < last->room)
            last->room = s.st_value - last->address;
    }
}

/* A name that a program of its own has twice (a function that is static in C) is one of these. */
static const struct static_function *find(const struct static_runtime *r, const char *name) {
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->functions[i].name, name) == 0)
            return &r->functions[i];
    return NULL;
}

/* cudaRuntimeGetVersion calls the function that stores the constant: on x86-64 "movl $13000, (%rdi)". 0: not found. */
static int read_version(const struct elf_file *f, const struct static_function *from) {
    int found = 0;
    uint64_t length;
    uint64_t size = from->room < CALLER ? from->room : CALLER;
    for (uint64_t at = 0; at < size; at += length) {
        int64_t distance;
        if (!call_at(from->code + at, size - at, &length, &distance))
            continue;
        const uint8_t *callee = elf_code(f, from->address + at + (uint64_t)distance, CALLEE);
        for (unsigned i = 0; callee != NULL && i + 12 <= CALLEE; i += length) {
            int value = stored_at(callee + i);
            if (value < 10000 || value > 99990 || value % 10 != 0)
                continue;
            if (found != 0 && found != value)
                return 0;
            found = value;
        }
    }
    return found;
}

static enum static_fit judge_entry(const struct static_function *fn) {
    return fn->room >= JUMP ? STATIC_FITS : returns_at_once(fn->code, fn->room) ? STATIC_HARMLESS : STATIC_NARROW;
}

/* What was found twice goes; what has no room for a jump, or shares its entry, is marked. */
static void judge_entries(struct static_runtime *r) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct static_function fn = r->functions[i], *last = n > 0 ? &r->functions[n - 1] : NULL;
        bool shared = last != NULL && last->address == fn.address;
        if (shared && last->room > fn.room)
            last->room = fn.room;
        fn.fit = judge_entry(&fn);
        if (!shared)
            r->functions[n++] = fn;
        else if (strcmp(last->name, fn.name) == 0)
            last->fit = last->fit == STATIC_SHARED ? STATIC_SHARED : judge_entry(last);
        else
            last->fit = fn.fit = STATIC_SHARED, r->functions[n++] = fn;
    }
    r->count = n;
}

static enum static_verdict judge_version(int version, char *why, size_t why_size) {
    char text[24] = "of unknown version";
    if ((version >= STATIC_OLDEST && version <= STATIC_LAST12) || (version >= 13000 && version <= STATIC_NEWEST))
        return STATIC_FOUND;
    if (version != 0)
        snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    snprintf(why, why_size,
             "links a CUDA runtime %s statically; the emulator stands in for 12.0 to 12.9 and 13.0 to 13.5: build it "
             "with one of these",
             text);
    return STATIC_UNFIT;
}

enum static_verdict static_read(const void *bytes, size_t size, struct static_runtime *r, char *why, size_t why_size) {
    struct elf_file f = {.bytes = bytes, .size = size};
    struct tables t;
    r->count = 0;
    if (!elf_get(&f, 0, &f.header, sizeof f.header) || memcmp(f.header.e_ident, ELFMAG, SELFMAG) != 0 ||
        f.header.e_ident[EI_CLASS] != ELFCLASS64 || f.header.e_ident[EI_DATA] != ELFDATA2LSB ||
        f.header.e_machine != HOST_MACHINE || (f.header.e_type != ET_EXEC && f.header.e_type != ET_DYN))
        return STATIC_NONE;
    find_tables(&f, &t);
    if (shared_runtime(&f, &t))
        return STATIC_NONE;
    if (!collect(&f, &t, r)) {
        snprintf(why, why_size, "has more functions with CUDA's names than any runtime has");
        return STATIC_UNFIT;
    }
    if (find(r, REGISTER) == NULL)
        return t.fatbin ? stripped(why, why_size, REGISTER) : STATIC_NONE;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (find(r, needed[i]) == NULL)
            return stripped(why, why_size, needed[i]);
    qsort(r->functions, r->count, sizeof r->functions[0], by_address);
    limit_room(&f, &t, r);
    r->version = read_version(&f, find(r, VERSION));
    judge_entries(r);
    return judge_version(r->version, why, why_size);
}

size_t static_jump(const struct static_function *f, uint64_t target, uint8_t out[STATIC_JUMP_MAX]) {
    size_t n = 0;
    if (f->room >= sizeof landing + JUMP && memcmp(f->code, landing, sizeof landing) == 0) {
        memcpy(out, landing, sizeof landing);
        n = sizeof landing;
    }
    memcpy(out + n, jump_head, sizeof jump_head);
    memcpy(out + n + sizeof jump_head, &target, sizeof target);
    memcpy(out + n + sizeof jump_head + sizeof target, jump_tail, JUMP_TAIL);
    return n + JUMP;
}
