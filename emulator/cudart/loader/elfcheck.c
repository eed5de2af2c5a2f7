/* Reads a program's ELF headers; contract in elfcheck.h. */
#include "cudart/loader/elfcheck.h"

#include "base/heap.h"
#include "cudart/loader/elf.h"
#include "cudart/loader/fatbin.h"
#include "cudart/loader/static.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#else
#error "the emulator runs on x86-64 and aarch64"
#endif

/* The containers of .nv_fatbin lie one behind the other, padded to 8 bytes: one for each source file, and one with
 * machine code alone for the device linker's. */
static void read_containers(const struct elf_file *f, const Elf64_Shdr *s, struct elf_facts *facts) {
    struct fatbin_reader r;
    struct fatbin_error why;
    struct fatbin_choice choice;
    size_t total;
    if (s->sh_type == SHT_NOBITS || !elf_holds(f, s->sh_offset, s->sh_size))
        return;
    const unsigned char *p = f->bytes + s->sh_offset, *end = p + s->sh_size;
    while (!facts->ptx && end - p >= 16) {
        if (fatbin_open(&r, p, (size_t)(end - p), &total, &why) < 0) {
            p += 8;
            continue;
        }
        facts->ptx = fatbin_choose(p, (size_t)(end - p), &choice, &why) == 0;
        if (facts->ptx)
            xfree(choice.text);
        else if (strstr(facts->fatbin_why, "PTX is") == NULL) /* that says more than "machine code alone" */
            snprintf(facts->fatbin_why, sizeof facts->fatbin_why, "%s", why.text);
        size_t step = (total + 7) / 8 * 8;
        p += step < (size_t)(end - p) ? step : (size_t)(end - p);
    }
}

/* Looks at the first section of a name only: linkers make one, and a hostile file could repeat a large one. */
static void read_sections(const struct elf_file *f, struct elf_facts *facts) {
    Elf64_Shdr names, s;
    bool read = false;
    if (!elf_section(f, f->header.e_shstrndx, &names))
        return;
    for (unsigned i = 0; i < f->header.e_shnum && elf_section(f, i, &s); i++) {
        const char *name = elf_name(f, &names, s.sh_name);
        if (strcmp(name, ".nv_fatbin") == 0) {
            facts->fatbin = true;
            if (!read)
                read_containers(f, &s, facts);
            read = true;
        } else if (strcmp(name, ".nvFatBinSegment") == 0) {
            facts->fatbin = true;
        } else if (strcmp(name, "__nv_relfatbin") == 0) {
            facts->relocatable = true;
        }
    }
}

/* Where the loader would put address `v`: its place in the file, or the file's end. */
static uint64_t file_offset(const struct elf_file *f, uint64_t v) {
    Elf64_Phdr p;
    for (unsigned i = 0; i < f->header.e_phnum; i++)
        if (elf_entry(f, f->header.e_phoff, f->header.e_phentsize, i, &p, sizeof p) && p.p_type == PT_LOAD &&
            v >= p.p_vaddr && v - p.p_vaddr < p.p_filesz && p.p_offset <= f->size)
            return p.p_offset + (v - p.p_vaddr);
    return f->size;
}

static void read_needed(const char *name, struct elf_facts *facts) {
    if (strcmp(name, "libcuda.so.1") == 0)
        facts->needs_cuda = true;
    if (strncmp(name, "libcudart.so.", 13) == 0)
        facts->needs_cudart = atoi(name + 13);
}

static void read_symbol(const char *name, struct elf_facts *facts) {
    if (strcmp(name, "__cudaRegisterFatBinary") == 0)
        facts->imports_register = true;
}

/* Undefined symbols of .dynsym, found by its section header. */
static void read_symbols(const struct elf_file *f, struct elf_facts *facts) {
    Elf64_Shdr s, strings;
    Elf64_Sym symbol;
    for (unsigned i = 0; i < f->header.e_shnum && elf_section(f, i, &s); i++) {
        if (s.sh_type != SHT_DYNSYM || !elf_section(f, s.sh_link, &strings))
            continue;
        for (uint64_t k = 0; k < s.sh_size / sizeof symbol; k++) {
            if (!elf_entry(f, s.sh_offset, sizeof symbol, k, &symbol, sizeof symbol))
                return;
            if (symbol.st_shndx == SHN_UNDEF)
                read_symbol(elf_name(f, &strings, symbol.st_name), facts);
        }
        return; /* there is one such section */
    }
}

static void read_dynamic(const struct elf_file *f, const Elf64_Phdr *p, struct elf_facts *facts) {
    Elf64_Dyn d;
    uint64_t count = p->p_filesz / sizeof d, strings = f->size, strings_size = 0;
    for (uint64_t i = 0; i < count && elf_entry(f, p->p_offset, sizeof d, i, &d, sizeof d) && d.d_tag != DT_NULL; i++) {
        if (d.d_tag == DT_STRTAB)
            strings = file_offset(f, d.d_un.d_ptr);
        if (d.d_tag == DT_STRSZ)
            strings_size = d.d_un.d_val;
    }
    for (uint64_t i = 0; i < count && elf_entry(f, p->p_offset, sizeof d, i, &d, sizeof d) && d.d_tag != DT_NULL; i++) {
        if (d.d_tag == DT_NEEDED)
            read_needed(elf_string(f, strings, strings_size, d.d_un.d_val), facts);
        facts->rpath |= d.d_tag == DT_RPATH;
        facts->runpath |= d.d_tag == DT_RUNPATH;
    }
}

static void read_runtime(const void *bytes, size_t size, struct elf_facts *facts) {
    struct static_runtime runtime;
    char why[sizeof facts->static_why];
    enum static_verdict verdict = static_read(bytes, size, &runtime, why, sizeof why);
    facts->static_runtime = verdict == STATIC_FOUND;
    if (verdict == STATIC_UNFIT)
        snprintf(facts->static_why, sizeof facts->static_why, "%s", why);
}

static bool refuse(char *why, size_t why_size, const char *text) {
    snprintf(why, why_size, "%s", text);
    return false;
}

/* Linux looks at 256 bytes: "#!", blanks, the interpreter up to a blank or the line's end; what follows is one
 * argument. A name that the 256 bytes cut is none. */
bool elf_interpreter(const void *bytes, size_t size, char name[ELF_INTERPRETER]) {
    const char *text = bytes;
    size_t at = 2, end, most = size < ELF_INTERPRETER ? size : ELF_INTERPRETER;
    name[0] = 0;
    if (size < 2 || memcmp(text, "#!", 2) != 0)
        return false;
    while (at < most && (text[at] == ' ' || text[at] == '\t'))
        at++;
    for (end = at; end < most && text[end] != ' ' && text[end] != '\t' && text[end] != '\n' && text[end] != 0;)
        end++;
    if (end == ELF_INTERPRETER)
        return true;
    memcpy(name, text + at, end - at);
    name[end - at] = 0;
    return true;
}

bool elf_read(const void *bytes, size_t size, struct elf_facts *facts, char *why, size_t why_size) {
    struct elf_file f = {.bytes = bytes, .size = size};
    Elf64_Phdr p;
    memset(facts, 0, sizeof *facts);
    if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return refuse(why, why_size,
                      "is neither an ELF program nor a script with an interpreter in its first line (#!)");
    if (f.bytes[EI_CLASS] != ELFCLASS64 || f.bytes[EI_DATA] != ELFDATA2LSB)
        return refuse(why, why_size, "is not a 64-bit little-endian program");
    if (!elf_get(&f, 0, &f.header, sizeof f.header))
        return refuse(why, why_size, "is cut off in its ELF header");
    if (f.header.e_machine != HOST_MACHINE)
        return refuse(why, why_size, "was built for another processor");
    if (f.header.e_type != ET_EXEC && f.header.e_type != ET_DYN)
        return refuse(why, why_size, "is not an executable (an object file?)");
    bool read = false;
    for (unsigned i = 0; i < f.header.e_phnum; i++) {
        if (!elf_entry(&f, f.header.e_phoff, f.header.e_phentsize, i, &p, sizeof p))
            continue;
        facts->dynamic |= p.p_type == PT_INTERP;
        if (p.p_type == PT_DYNAMIC && !read)
            read_dynamic(&f, &p, facts);
        read |= p.p_type == PT_DYNAMIC;
    }
    read_sections(&f, facts);
    read_symbols(&f, facts);
    read_runtime(bytes, size, facts);
    return true;
}

bool elf_judge(const struct elf_facts *facts, char *why, size_t why_size) {
    bool shared = facts->needs_cudart != 0 || facts->imports_register;
    const bool device_code = facts->fatbin || facts->relocatable || facts->static_runtime || facts->static_why[0] != 0;
    if (!facts->dynamic && !device_code)
        return true; /* it may start others */
    if (!facts->dynamic)
        return refuse(
            why, why_size,
            "is statically linked, so no library can be put in its way: build it without -static and -static-pie");
    if (facts->static_why[0] != 0)
        return refuse(why, why_size, facts->static_why);
    if (facts->needs_cudart != 0 && facts->needs_cudart != 12 && facts->needs_cudart != 13) {
        snprintf(why, why_size, "needs libcudart.so.%d; the emulator stands in for 12 and 13", facts->needs_cudart);
        return false;
    }
    if (facts->rpath && !facts->runpath && (shared || facts->needs_cuda))
        return refuse(why, why_size,
                      "has a DT_RPATH, which the loader obeys before LD_LIBRARY_PATH, so it would not find "
                      "the emulator: link it with -Xlinker --enable-new-dtags (g++: -Wl,--enable-new-dtags)");
    if (facts->fatbin && !facts->ptx && !facts->relocatable && facts->fatbin_why[0] != 0)
        return refuse(why, why_size, facts->fatbin_why);
    return true;
}
