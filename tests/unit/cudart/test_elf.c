/* The launcher's look at a program: what it finds in ELF headers, what it refuses, and files that lie. */
#include "check.h"
#include "cudart/core/options.h"
#include "cudart/loader/elfcheck.h"
#include "unit/cudart/containers.h"

#include <elf.h>

#define PTX_F ".version 9.0\n.target sm_100f\n"

/* A small program in the making: one loadable segment that maps the file at address 0, a dynamic section, the loader's
 * name, sections. */
struct elf {
    uint8_t bytes[16384];
    size_t size;
    char strings[512]; /* names of libraries and symbols, then of sections */
    size_t strings_size;
    Elf64_Dyn dynamic[16];
    size_t num_dynamic;
    Elf64_Sym symbols[8];
    size_t num_symbols;
    Elf64_Shdr sections[8];
    size_t num_sections;
};

static size_t add_string(struct elf *e, const char *text) {
    size_t at = e->strings_size;
    strcpy(e->strings + at, text);
    e->strings_size += strlen(text) + 1;
    return at;
}

static size_t add_bytes(struct elf *e, const void *p, size_t n) {
    e->size = (e->size + 15) / 16 * 16;
    size_t at = e->size;
    memcpy(e->bytes + at, p, n);
    e->size += n;
    return at;
}

static void begin(struct elf *e) {
    memset(e, 0, sizeof *e);
    e->strings_size = 1;
    e->num_symbols = 1;
    e->num_sections = 1;
    e->size = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
}

static void add_dynamic(struct elf *e, int64_t tag, uint64_t value) {
    e->dynamic[e->num_dynamic].d_tag = tag;
    e->dynamic[e->num_dynamic++].d_un.d_val = value;
}

static void add_needed(struct elf *e, const char *library) { add_dynamic(e, DT_NEEDED, add_string(e, library)); }
static void add_import(struct elf *e, const char *name) {
    e->symbols[e->num_symbols++].st_name = (Elf64_Word)add_string(e, name);
}

static Elf64_Shdr *add_section(struct elf *e, const char *name, unsigned type, const void *p, size_t n) {
    Elf64_Shdr *s = &e->sections[e->num_sections++];
    s->sh_name = (Elf64_Word)add_string(e, name);
    s->sh_type = type;
    s->sh_offset = add_bytes(e, p, n);
    s->sh_size = n;
    return s;
}

static void add_fatbin(struct elf *e, const struct container *c) {
    add_section(e, ".nv_fatbin", SHT_PROGBITS, c->bytes, c->size);
    add_section(e, ".nvFatBinSegment", SHT_PROGBITS, "wrapper", 7);
}

enum how { STATIC = 1, STATIC_PIE, DYNAMIC }; /* the number of its segments */

/* Puts the tables behind the contents. */
static void finish(struct elf *e, enum how how) {
    Elf64_Shdr *symbols = add_section(e, ".dynsym", SHT_DYNSYM, e->symbols, e->num_symbols * sizeof e->symbols[0]);
    symbols->sh_link = (Elf64_Word)e->num_sections;
    Elf64_Shdr *strings = add_section(e, ".dynstr", SHT_STRTAB, e->strings, sizeof e->strings);
    memcpy(e->bytes + strings->sh_offset, e->strings, sizeof e->strings); /* with its own name */
    add_dynamic(e, DT_STRTAB, strings->sh_offset);
    add_dynamic(e, DT_STRSZ, sizeof e->strings);
    add_dynamic(e, DT_NULL, 0);
    size_t dynamic_at = add_bytes(e, e->dynamic, e->num_dynamic * sizeof e->dynamic[0]);
    size_t sections_at = add_bytes(e, e->sections, e->num_sections * sizeof e->sections[0]);
    Elf64_Ehdr h = {
        .e_type = ET_DYN,
        .e_machine =
#if defined(__aarch64__)
            EM_AARCH64,
#else
            EM_X86_64,
#endif
        .e_phoff = sizeof h,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = how,
        .e_shoff = sections_at,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)e->num_sections,
        .e_shstrndx = (Elf64_Half)(e->num_sections - 1)
    };
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    Elf64_Phdr p[3] = {
        {.p_type = PT_LOAD, .p_filesz = e->size, .p_memsz = e->size},
        {.p_type = PT_DYNAMIC, .p_offset = dynamic_at, .p_filesz = e->num_dynamic * sizeof e->dynamic[0]},
        {.p_type = PT_INTERP}};
    memcpy(e->bytes, &h, sizeof h);
    memcpy(e->bytes + sizeof h, p, sizeof p);
}

/* Reads and judges a copy that ends where its allocation ends. */
static bool accept_bytes(const uint8_t *bytes, size_t size, struct elf_facts *facts, char *why, size_t why_size) {
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    why[0] = 0;
    bool ok = elf_read(copy, size, facts, why, why_size) && elf_judge(facts, why, why_size);
    free(copy);
    return ok;
}

static void expect_good(const struct elf *e) {
    struct elf_facts facts;
    char why[512];
    if (!CHECK(accept_bytes(e->bytes, e->size, &facts, why, sizeof why)))
        fprintf(stderr, "    %s\n", why);
}

static void expect_refusal(const struct elf *e, const char *part) {
    struct elf_facts facts;
    char why[512];
    CHECK(!accept_bytes(e->bytes, e->size, &facts, why, sizeof why));
    CHECK_HAS(why, part);
}

static void cuda_program(struct elf *e, const char *runtime, const char *ptx) {
    struct container c;
    container_begin(&c); /* the device linker's, without PTX */
    container_add(&c, KIND_ELF, 100, 0, "\177ELF....", 8, 0);
    size_t first = c.size;
    struct container d;
    container_begin(&d);
    container_add(&d, KIND_ELF, 100, 0, "\177ELF....", 8, 0);
    if (ptx != NULL)
        container_ptx(&d, 100, ptx);
    memcpy(c.bytes + first, d.bytes, d.size);
    c.size += d.size;
    begin(e);
    add_fatbin(e, &c);
    if (runtime != NULL) {
        add_needed(e, runtime);
        add_import(e, "__cudaRegisterFatBinary");
    }
}

static void test_programs(void) {
    struct elf e;
    cuda_program(&e, "libcudart.so.13", PTX_F);
    finish(&e, DYNAMIC);
    expect_good(&e);
    cuda_program(&e, "libcudart.so.12", PTX_F);
    add_dynamic(&e, DT_RUNPATH, 1);
    finish(&e, DYNAMIC);
    expect_good(&e);
    cuda_program(&e, "libcudart.so.13", PTX_F);
    add_dynamic(&e, DT_RPATH, 1);
    finish(&e, DYNAMIC);
    expect_refusal(&e, "--enable-new-dtags");
    cuda_program(&e, "libcudart.so.11", PTX_F);
    finish(&e, DYNAMIC);
    expect_refusal(&e, "libcudart.so.11");
    cuda_program(&e, NULL, PTX_F);
    finish(&e, DYNAMIC);
    expect_refusal(&e, "-cudart shared");
    cuda_program(&e, NULL, PTX_F);
    finish(&e, STATIC);
    expect_refusal(&e, "-static");
    cuda_program(&e, NULL, PTX_F);
    finish(&e, STATIC_PIE); /* a dynamic section, and no loader that reads it */
    expect_refusal(&e, "-static-pie");
    cuda_program(&e, "libcudart.so.13", NULL);
    finish(&e, DYNAMIC);
    expect_refusal(&e, "SASS");
    expect_refusal(&e, "-gencode");
    expect_refusal(&e, "NVCC_APPEND_FLAGS");
    cuda_program(&e, "libcudart.so.13", ".version 9.0\n.target sm_103a\n");
    finish(&e, DYNAMIC);
    expect_refusal(&e, "sm_103a");
    cuda_program(&e, "libcudart.so.13", NULL);
    add_section(&e, "__nv_relfatbin", SHT_PROGBITS, "x", 1);
    finish(&e, DYNAMIC);
    expect_good(&e); /* the library says more when it comes to it */
}

/* They may start programs, or load CUDA later: only what cannot work is refused. */
static void test_other_programs(void) {
    struct elf e;
    begin(&e);
    add_needed(&e, "libc.so.6");
    finish(&e, DYNAMIC);
    expect_good(&e);
    begin(&e);
    add_needed(&e, "libc.so.6");
    add_dynamic(&e, DT_RPATH, 1);
    finish(&e, DYNAMIC);
    expect_good(&e);
    begin(&e);
    add_needed(&e, "libcuda.so.1");
    finish(&e, DYNAMIC);
    expect_good(&e);
    begin(&e);
    add_needed(&e, "libcuda.so.1");
    add_dynamic(&e, DT_RPATH, 1);
    finish(&e, DYNAMIC);
    expect_refusal(&e, "--enable-new-dtags");
    begin(&e);
    finish(&e, STATIC);
    expect_good(&e); /* busybox, a tool in Go */
    begin(&e);
    finish(&e, STATIC_PIE);
    expect_good(&e);
}

static void test_no_program(void) {
    struct elf good, e;
    cuda_program(&good, "libcudart.so.13", PTX_F);
    finish(&good, DYNAMIC);
    e = good;
    e.bytes[0] = 0;
    expect_refusal(&e, "neither an ELF program");
    e = good;
    e.bytes[EI_CLASS] = ELFCLASS32;
    expect_refusal(&e, "64-bit");
    e = good;
    put(e.bytes + offsetof(Elf64_Ehdr, e_machine), EM_386, 2);
    expect_refusal(&e, "another processor");
    e = good;
    put(e.bytes + offsetof(Elf64_Ehdr, e_type), ET_REL, 2);
    expect_refusal(&e, "object file");
}

/* A first line and the interpreter in it; NULL: it is no script. The text ends where its allocation does. */
static void expect_interpreter(const char *text, const char *wanted) {
    const size_t size = strlen(text);
    char *copy = malloc(size ? size : 1), name[ELF_INTERPRETER];
    memcpy(copy, text, size);
    CHECK_EQ(elf_interpreter(copy, size, name), wanted != NULL);
    CHECK_STR(name, wanted ? wanted : "");
    free(copy);
}

static void test_scripts(void) {
    char line[600], wanted[254];
    expect_interpreter("#!/bin/sh\necho", "/bin/sh");
    expect_interpreter("#!/usr/bin/env python3\n", "/usr/bin/env");
    expect_interpreter("#! \t /bin/sh -e -u \n", "/bin/sh");
    expect_interpreter("#!/bin/sh", "/bin/sh");
    expect_interpreter("#!../venv/bin/python\n", "../venv/bin/python");
    expect_interpreter("#!\n/bin/sh", "");
    expect_interpreter("#!", "");
    expect_interpreter("#", NULL);
    expect_interpreter("", NULL);
    expect_interpreter(" #!/bin/sh", NULL);
    memset(line, 'x', sizeof line - 1);
    memcpy(line, "#!", 2);
    line[sizeof line - 1] = 0;
    expect_interpreter(line, ""); /* cut by the 256 bytes */
    line[255] = 0;
    memcpy(wanted, line + 2, 254);
    expect_interpreter(line, wanted);
}

/* Truncations and flipped bits must not read outside; the sanitiser watches. */
static void test_hostile(void) {
    struct elf good, e;
    struct elf_facts facts;
    char why[512];
    cuda_program(&good, "libcudart.so.13", PTX_F);
    finish(&good, DYNAMIC);
    for (size_t n = 0; n < good.size; n++)
        if (!accept_bytes(good.bytes, n, &facts, why, sizeof why))
            CHECK(why[0] != 0);
    for (size_t i = 0; i < good.size * 8; i++) {
        e = good;
        e.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        if (!accept_bytes(e.bytes, e.size, &facts, why, sizeof why))
            CHECK(why[0] != 0);
    }
}

/* A value of an option by its name. */
static bool parse(const char *name, const char *text, struct mach_config *c) {
    for (unsigned i = 0; i < RT_NUM_OPTIONS; i++)
        if (strcmp(rt_options[i].name, name) == 0)
            return rt_option_take(&rt_options[i], text, c);
    return CHECK(false);
}

static void test_options(void) {
    struct mach_config c = {0};
    CHECK(parse("--schedule", "random:18446744073709551615", &c));
    CHECK_EQ(c.schedule, MACH_SCHED_RANDOM);
    CHECK_EQ(c.seed, UINT64_MAX);
    CHECK(parse("--schedule", "pct:18446744073709551615,16", &c) && c.schedule == MACH_SCHED_PCT);
    CHECK_EQ(c.seed, UINT64_MAX);
    CHECK_EQ(c.depth, 16);
    CHECK_EQ(c.steps, 0);
    CHECK(parse("--schedule", "pct:0,1,18446744073709551615", &c) && c.steps == UINT64_MAX);
    CHECK_EQ(c.depth, 1);
    CHECK(parse("--schedule", "eager", &c) && c.schedule == MACH_SCHED_EAGER);
    CHECK(parse("--schedule", "lazy", &c) && c.schedule == MACH_SCHED_LAZY);
    CHECK(parse("--schedule", "default", &c) && c.schedule == MACH_SCHED_DEFAULT);
    CHECK(parse("--watchdog", "1000", &c) && c.watchdog == 1000);
    CHECK(parse("--threads", "1", &c) && c.threads == 1);
    CHECK(parse("--threads", "1024", &c) && c.threads == 1024);
    CHECK(parse("--umma", "fast", &c) && c.umma == MACH_UMMA_FAST);
    CHECK(parse("--umma", "b200", &c) && c.umma == MACH_UMMA_B200);
    CHECK(parse("--umma", "exact", &c) && c.umma == MACH_UMMA_EXACT);
    CHECK(parse("--clock", "1.965GHz", &c) && strcmp(c.clock, "1.965GHz") == 0);
    CHECK(parse("--check", "off", &c) && c.check == MACH_CHECK_OFF);
    CHECK(parse("--check", "error", &c) && c.check == MACH_CHECK_ERROR);
    CHECK(parse("--check", "warn", &c) && c.check == MACH_CHECK_WARN);
    CHECK(parse("--gpc-sizes", "100,48", &c) && c.num_gpcs == 2 && c.gpc_sms[1] == 48);
    static const char *const bad[][2] = {
        {"--schedule", ""},
        {"--schedule", "Eager"},
        {"--schedule", "random"},
        {"--schedule", "random:"},
        {"--schedule", "random:x"},
        {"--schedule", "random:-1"},
        {"--schedule", "random: 1"},
        {"--schedule", "random:1x"},
        {"--schedule", "random:18446744073709551616"},
        {"--schedule", "pct"},
        {"--schedule", "pct:1"},
        {"--schedule", "pct:1,"},
        {"--schedule", "pct:1,0"},
        {"--schedule", "pct:1,17"},
        {"--schedule", "pct:1,4294967297"},
        {"--schedule", "pct:1,3,"},
        {"--schedule", "pct:1,3,0"},
        {"--schedule", "pct:1,3,5,"},
        {"--schedule", "pct:1,3,5,7"},
        {"--schedule", "pct:,3"},
        {"--schedule", "pct:1,3,18446744073709551616"},
        {"--schedule", "pct:1,000000000000000000000000003"},
        {"--watchdog", "0"},
        {"--watchdog", ""},
        {"--watchdog", "1k"},
        {"--threads", "0"},
        {"--threads", "1025"},
        {"--threads", "two"},
        {"--clock", ""},
        {"--clock", "fast"},
        {"--clock", "1.965"},
        {"--umma", ""},
        {"--umma", "faster"},
        {"--check", "on"},
        {"--gpc-sizes", "100,47"},
        {"--gpc-sizes", "148,"},
        {"--gpc-sizes", "0,148"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!CHECK(!parse(bad[i][0], bad[i][1], &c)))
            fprintf(stderr, "    %s=%s\n", bad[i][0], bad[i][1]);
}

int main(void) {
    test_programs();
    test_other_programs();
    test_no_program();
    test_scripts();
    test_hostile();
    test_options();
    return check_report();
}
