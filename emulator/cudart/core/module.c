/* Modules, kernels and variables: from registered bytes to loaded code. Contract in context.h. */
#include "cudart/core/context.h"

#include "base/heap.h"
#include "cudart/loader/cubin.h"
#include "cudart/loader/marked.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { MAX_IMAGE_FILE = 1 << 30 };
enum { CUBIN_MAGIC = 0x464C457F }; /* 0x7F, "ELF" */
enum { NEWEST_PTX = 99 };          /* any 9.x: what is unknown of a newer text is refused where it stands */

/* Where the object file that holds `p` ends in memory: the bound for containers that the program carries. */
struct extent {
    uintptr_t p, end;
};

static int find_extent(struct dl_phdr_info *info, size_t size, void *data) {
    struct extent *x = data;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && x->p >= start && x->p - start < info->dlpi_phdr[i].p_memsz) {
            x->end = start + info->dlpi_phdr[i].p_memsz;
            return 1;
        }
    }
    return 0;
}

/* How many bytes may be read at p. Memory that no loaded object holds (an image that the program read from a file) is
 * bounded by its own header alone, as with the real driver. */
static size_t readable(const void *p) {
    struct extent x = {(uintptr_t)p, 0};
    if (dl_iterate_phdr(find_extent, &x) != 0)
        return x.end - x.p;
    return SIZE_MAX - (uintptr_t)p;
}

struct rt_module *rt_module_create(struct rt_context *c) {
    struct rt_module *m = rt_calloc(c, 1, sizeof *m);
    if (m == NULL)
        return NULL;
    struct rt_module **end = &c->modules;
    while (*end != NULL)
        end = &(*end)->next;
    *end = m;
    m->number = ++c->num_modules;
    return m;
}

bool rt_module_known(const struct rt_context *c, const struct rt_module *m) {
    const struct rt_module *i = c->modules;
    while (i != NULL && i != m)
        i = i->next;
    return i != NULL;
}

struct rt_context *rt_enter_module(const char *call, const void *module) {
    struct rt_context *c = rt_enter_beside(call);
    if (c->entered == RT_SUCCESS && !rt_module_known(c, module))
        c->entered =
            rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is no %s of this process", module, c->driver ? "module" : "library");
    return c;
}

/* The container of a registered binary. Relocatable device code (wrapper version 2) brings the containers of all its
 * objects, to be linked: one alone needs no linker. */
static int registered_container(struct rt_context *c, const struct fatbin_wrapper *w, const void **data) {
    *data = w->data;
    if (w->version != 2)
        return RT_SUCCESS;
    const void *const *list = w->extra;
    if (list == NULL || list[0] == NULL)
        return rt_say(c, RT_ERROR_NO_BINARY, "the program's relocatable device code carries no image");
    if (list[1] != NULL)
        return rt_say(c, RT_ERROR_NO_BINARY,
                      "the program links relocatable device code of several objects, which the emulator does "
                      "not do: build it without -rdc=true (-dc)");
    *data = list[0];
    return RT_SUCCESS;
}

static int from_container(struct rt_context *c, const void *image, size_t limit, struct rt_module *m) {
    struct fatbin_error why;
    if (fatbin_choose(image, limit, &m->choice, &why) < 0)
        return rt_say(c, why.no_memory ? RT_ERROR_MEMORY_ALLOCATION : RT_ERROR_NO_BINARY, "%s", why.text);
    m->code = fatbin_code(image, limit, &m->code_len, &why);
    if (m->code != NULL || !why.no_memory)
        return RT_SUCCESS;
    xfree(m->choice.text);
    m->choice.text = NULL;
    return rt_say(c, RT_ERROR_MEMORY_ALLOCATION, "%s", why.text);
}

static int from_wrapper(struct rt_context *c, struct rt_module *m) {
    const void *data;
    if (m->wrapper->magic != FATBIN_WRAPPER_MAGIC || (m->wrapper->version != 1 && m->wrapper->version != 2))
        return rt_say(c, RT_ERROR_INVALID_IMAGE, "a registered fat binary has magic 0x%08x, version %u",
                      m->wrapper->magic, m->wrapper->version);
    int e = registered_container(c, m->wrapper, &data);
    e = rt_then(e, from_container(c, data, readable(data), m));
    if (e == RT_SUCCESS && m->choice.fit == FATBIN_FIT_GENERIC)
        rt_say(c, 0,
               "note: the program carries only generic PTX (%s), which has no tcgen05; for that build with "
               "-gencode 'arch=compute_100f,code=[sm_100f,compute_100f]'",
               m->choice.target);
    return e;
}

static void name_module(struct rt_module *m) {
    char name[256], number[16] = "";
    if (m->name != NULL && !m->registered) /* PTX read from a file keeps the file's name */
        return;
    if (m->number > 1)
        snprintf(number, sizeof number, ".%u", m->number);
    snprintf(name, sizeof name, "%.200s%s.%s.ptx", program_invocation_short_name, number, m->choice.target);
    xfree(m->name);
    m->name = xstrdup(name);
}

/* A module that is loaded again, after a reset, finds the values that rt_reset kept. */
void rt_publish_managed(struct rt_module *m) {
    for (struct rt_variable *v = m->variables; v != NULL; v = v->next) {
        uint64_t address, size;
        if (v->managed == NULL)
            continue;
        if (m->exec != NULL && lower_find_var(m->exec, v->name, &address, &size)) {
            *v->managed = (void *)(uintptr_t)address;
            if (v->stand_in != NULL)
                memcpy(*v->managed, v->stand_in, size < v->size ? size : v->size);
            xfree(v->stand_in);
            v->stand_in = NULL;
            continue;
        }
        if (v->stand_in == NULL)
            v->stand_in = xcalloc(1, v->size + 1);
        *v->managed = v->stand_in;
    }
}

bool rt_module_unload(struct rt_module *m) {
    bool managed = false;
    for (struct rt_variable *v = m->variables; v != NULL && m->exec != NULL; v = v->next) {
        uint64_t address, size;
        if (v->managed == NULL || !lower_find_var(m->exec, v->name, &address, &size))
            continue;
        managed = true;
        v->stand_in = xcalloc(1, v->size + 1);
        memcpy(v->stand_in, *v->managed, size < v->size ? size : v->size);
        *v->managed = v->stand_in;
    }
    if (m->exec != NULL)
        lower_module_unload(m->exec);
    m->exec = NULL;
    m->tried = false;
    return managed;
}

static void take_registers(void *exec, const char *name, uint32_t registers) {
    lower_set_registers(exec, name, registers);
}

/* How many machine instructions there are of each line. */
static void take_counts(struct rt_module *m, uint32_t lines) {
    uint32_t *counts = try_calloc(lines, sizeof *counts);
    if (counts != NULL && cubin_count(m->code, m->code_len, counts, lines))
        lower_set_counts(m->exec, counts, lines);
    xfree(counts);
}

static int load(struct rt_context *c, struct rt_module *m) {
    int e = m->choice.text == NULL ? from_wrapper(c, m) : RT_SUCCESS;
    if (e != RT_SUCCESS)
        return e;
    name_module(m);
    uint32_t lines = 2; /* of the text, and 1 */
    for (size_t i = 0; i < m->choice.len; i++)
        lines += m->choice.text[i] == '\n';
    struct ptx_module *ptx = ptx_parse(m->choice.text, m->choice.len, m->name, &c->gpu->sink);
    if (ptx == NULL)
        return rt_say(c, RT_ERROR_INVALID_PTX, "the PTX of %s is not valid", m->name);
    if (m->registered) { /* chosen again if the device is reset */
        xfree(m->choice.text);
        m->choice.text = NULL;
    }
    m->exec = lower_module_load(c->gpu, ptx);
    if (m->exec == NULL)
        return rt_say(c, RT_ERROR_INVALID_PTX, "the PTX of %s cannot be loaded", m->name);
    if (m->code != NULL)
        cubin_registers(m->code, m->code_len, take_registers, m->exec);
    if (m->code != NULL)
        take_counts(m, lines);
    xfree(m->code);
    m->code = NULL;
    return RT_SUCCESS;
}

int rt_module_ready(struct rt_context *c, struct rt_module *m) {
    if (!m->tried) {
        m->status = load(c, m);
        m->tried = m->status != RT_ERROR_MEMORY_ALLOCATION; /* the program may free some */
        rt_publish_managed(m);
    }
    return m->status;
}

static int from_text(struct rt_context *c, const char *text, size_t len, struct rt_module *m) {
    const unsigned version = fatbin_ptx_version(text, len);
    m->choice.fit = fatbin_target(text, len, m->choice.target, sizeof m->choice.target);
    if (version == 0)
        return rt_say(c, RT_ERROR_INVALID_IMAGE, "the image is neither PTX nor a fat binary");
    if (version > NEWEST_PTX)
        return rt_say(c, RT_ERROR_UNSUPPORTED_PTX_VERSION, "PTX %u.%u is newer than what the emulator knows",
                      version / 10, version % 10);
    if (m->choice.fit == FATBIN_FIT_NONE)
        return rt_say(c, RT_ERROR_INVALID_PTX,
                      "the PTX is for %s, which a device of compute capability 10.0 cannot run: use .target sm_100f",
                      m->choice.target[0] ? m->choice.target : "no target");
    m->choice.text = rt_calloc(c, len + 1, 1);
    if (m->choice.text == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    memcpy(m->choice.text, text, len);
    m->choice.len = len;
    return RT_SUCCESS;
}

/* Machine code is not run; the PTX that it was made of is, where it carries that. */
static int from_cubin(struct rt_context *c, const uint8_t *code, size_t limit, struct rt_module *m) {
    size_t len;
    const size_t size = cubin_size(code, limit);
    char *text = cubin_ptx(code, size, &len);
    if (text == NULL)
        return rt_say(
            c, RT_ERROR_NO_BINARY,
            "the image is machine code (a cubin) without the PTX that it was made of, which the emulator runs "
            "in its place: compile it with line information (nvcc or ptxas -lineinfo), or give PTX or a fat "
            "binary made with -gencode 'arch=compute_100f,code=[sm_100f,compute_100f]'");
    int e = from_text(c, text, len, m);
    xfree(text);
    m->code = e == RT_SUCCESS ? rt_calloc(c, size, 1) : NULL;
    if (m->code != NULL)
        memcpy(m->code, code, m->code_len = size);
    return e;
}

/* "softmax_kernel.sm_100a.ptx": the first kernel's name, which a front end's cache knows the text by, too. */
static char *name_of_text(struct rt_context *c, const struct rt_module *m) {
    static const char entry[] = ".entry";
    const char *at = strstr(m->choice.text, entry);
    char name[256];
    at = at ? at + sizeof entry - 1 + strspn(at + sizeof entry - 1, " \t\r\n") : "";
    snprintf(name, sizeof name, "%.*s.%s.ptx", (int)strcspn(at, " \t\r\n("), at, m->choice.target);
    return rt_strdup(c, name);
}

/* PTX that the stand-in for ptxas hands on in a cubin's place, and the register counts of that cubin. */
static int from_marked(struct rt_context *c, const void *image, size_t limit, struct rt_module *m) {
    struct marked of;
    if (!marked_read(image, limit, &of))
        return rt_say(c, RT_ERROR_INVALID_IMAGE, "the image is marked as PTX from sm100emu's ptxas, and is damaged");
    int e = from_text(c, of.ptx, of.ptx_len, m);
    if (e != RT_SUCCESS)
        return e;
    m->name = name_of_text(c, m);
    m->code = of.code_len != 0 ? rt_calloc(c, of.code_len, 1) : NULL;
    if (m->name == NULL || (of.code_len != 0 && m->code == NULL))
        return RT_ERROR_MEMORY_ALLOCATION;
    if (m->code != NULL)
        memcpy(m->code, of.code, m->code_len = of.code_len);
    return RT_SUCCESS;
}

/* `limit` bounds what may be read; a text in memory ends at its zero byte. */
int rt_image_choose(struct rt_context *c, const void *image, size_t limit, struct rt_module *m) {
    uint32_t magic = 0;
    memcpy(&magic, image, strnlen(image, limit < 4 ? limit : 4)); /* no byte of a magic number is zero */
    if (magic == FATBIN_MAGIC)
        return from_container(c, image, limit, m);
    if (magic == CUBIN_MAGIC)
        return from_cubin(c, image, limit, m);
    if (marked_is(image, limit))
        return from_marked(c, image, limit, m);
    return from_text(c, image, strnlen(image, limit), m);
}

/* The end of making a module: loads it for the caller where all went well so far, else forgets it. */
static int hand_out(struct rt_context *c, struct rt_module *m, int e, void **out) {
    e = rt_then(e, rt_module_ready(c, m));
    if (e == RT_SUCCESS)
        *out = m;
    else
        rt_module_drop(c, m);
    return e;
}

int rt_module_from_image(struct rt_context *c, const void *image, void **out) {
    if (image == NULL || out == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "no image, or no place for the module");
    struct rt_module *m = rt_module_create(c);
    if (m == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    const struct fatbin_wrapper *w = image;
    if ((uintptr_t)image % 8 != 0 || w->magic != FATBIN_WRAPPER_MAGIC)
        return hand_out(c, m, rt_image_choose(c, image, readable(image), m), out);
    m->wrapper = w;
    return hand_out(c, m, from_wrapper(c, m), out);
}

int rt_read_image(struct rt_context *c, const char *path, char **bytes, size_t *size) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (f == NULL)
        return rt_say(c,
                      path == NULL      ? RT_ERROR_INVALID_VALUE
                      : errno == ENOMEM ? RT_ERROR_MEMORY_ALLOCATION
                                        : RT_ERROR_FILE_NOT_FOUND,
                      "%s: %s", path ? path : "no file", strerror(errno));
    fseek(f, 0, SEEK_END);
    long end = ftell(f);
    rewind(f);
    if (end <= 0 || end > MAX_IMAGE_FILE) {
        fclose(f);
        return rt_say(c, RT_ERROR_INVALID_IMAGE, "%s: %ld bytes", path, end);
    }
    *bytes = rt_calloc(c, (size_t)end + 1, 1);
    *size = *bytes ? fread(*bytes, 1, (size_t)end, f) : 0;
    fclose(f);
    return *bytes ? RT_SUCCESS : RT_ERROR_MEMORY_ALLOCATION;
}

int rt_module_from_file(struct rt_context *c, const char *path, void **out) {
    char *bytes = NULL;
    size_t got = 0;
    int e = rt_then(rt_check_out(c, out), rt_read_image(c, path, &bytes, &got));
    struct rt_module *m = e == RT_SUCCESS ? rt_module_create(c) : NULL;
    if (m == NULL) {
        xfree(bytes);
        return rt_then(e, RT_ERROR_MEMORY_ALLOCATION);
    }
    e = rt_image_choose(c, bytes, got, m);
    xfree(bytes);
    if (e == RT_SUCCESS && m->choice.len == got && (m->name = rt_strdup(c, path)) == NULL)
        e = RT_ERROR_MEMORY_ALLOCATION;
    return hand_out(c, m, e, out);
}

static void drop_functions(struct rt_context *c, struct rt_module *m) {
    struct rt_function **p = &c->functions;
    while (*p != NULL) {
        struct rt_function *f = *p;
        if (f->module != m) {
            p = &f->next;
            continue;
        }
        *p = f->next;
        xfree(f->name);
        xfree(f->legacy);
        xfree(f);
    }
}

void rt_module_drop(struct rt_context *c, struct rt_module *m) {
    rt_finish(c);
    struct rt_module **p = &c->modules;
    while (*p != NULL && *p != m)
        p = &(*p)->next;
    if (*p == NULL)
        return;
    *p = m->next;
    drop_functions(c, m);
    while (m->variables != NULL) {
        struct rt_variable *v = m->variables;
        m->variables = v->next;
        xfree(v->name);
        xfree(v->stand_in);
        xfree(v);
    }
    if (m->exec != NULL)
        lower_module_unload(m->exec);
    xfree(m->code);
    xfree(m->choice.text);
    xfree(m->name);
    xfree(m);
}

struct rt_function *rt_function_create(struct rt_context *c, struct rt_module *m, const char *name, const void *host) {
    struct rt_function *f = rt_calloc(c, 1, sizeof *f);
    if (f == NULL || (f->name = rt_strdup(c, name)) == NULL) {
        xfree(f);
        return NULL;
    }
    f->module = m;
    f->host = host;
    f->max_dynamic_shared = f->carveout = -1;
    f->next = c->functions;
    c->functions = f;
    return f;
}

struct rt_function *rt_function_find(struct rt_context *c, const void *host_or_handle) {
    for (struct rt_function *f = c->functions; f != NULL; f = f->next)
        if (f == host_or_handle || (f->host != NULL && f->host == host_or_handle))
            return f;
    return NULL;
}

/* Loads the function's module and finds its kernel. */
static int function_ready(struct rt_context *c, struct rt_function *f) {
    if (f->kernel != NULL)
        return RT_SUCCESS;
    int e = rt_module_ready(c, f->module);
    if (e != RT_SUCCESS)
        return e;
    f->kernel = lower_find_kernel(f->module->exec, f->name);
    if (f->kernel == NULL)
        return rt_say(c, RT_ERROR_INVALID_DEVICE_FUNCTION, "the PTX of %s has no kernel %s", f->module->name, f->name);
    f->info = lower_kernel_info(f->kernel);
    return RT_SUCCESS;
}

static int function_get(struct rt_context *c, const void *host_or_handle, struct rt_function **out) {
    *out = rt_function_find(c, host_or_handle);
    if (host_or_handle == NULL)
        return rt_say(c, RT_ERROR_INVALID_DEVICE_FUNCTION, "the function is a null pointer");
    if (*out == NULL)
        return rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not a kernel of this program", host_or_handle);
    return function_ready(c, *out);
}

struct rt_context *rt_enter_function(const char *call, const void *function, struct rt_function **f) {
    struct rt_context *c = rt_enter_beside(call);
    *f = NULL;
    c->entered = rt_then(c->entered, function_get(c, function, f));
    return c;
}

int rt_variable_by_name(struct rt_context *c, struct rt_module *m, const char *name, uint64_t *address, size_t *bytes) {
    uint64_t at, size;
    int e = rt_module_ready(c, m);
    if (e != RT_SUCCESS)
        return e;
    if (c->driver &&
        (name == NULL || *name == 0 || (address == NULL && bytes == NULL) || lower_find_kernel(m->exec, name) != NULL))
        return rt_say(c, RT_ERROR_INVALID_VALUE,
                      "%s is not the name of a variable, or there is no place for the results", name ? name : "(null)");
    if (name == NULL || !lower_find_var(m->exec, name, &at, &size))
        return rt_say(c, RT_ERROR_NOT_FOUND, "there is no variable %s", name ? name : "(null)");
    e = rt_give(e, address, at);
    return rt_give(e, bytes, size);
}

/* A module's function that somebody asked for before, or NULL. */
static struct rt_function *known_function(const struct rt_context *c, const struct rt_module *m, const char *name) {
    struct rt_function *f = c->functions;
    while (f != NULL && (f->module != m || strcmp(f->name, name) != 0))
        f = f->next;
    return f;
}

int rt_module_kernels(struct rt_context *c, struct rt_module *m, void **out, unsigned most, unsigned *count) {
    const char *name;
    int e = rt_module_ready(c, m);
    *count = 0;
    while (e == RT_SUCCESS && (name = lower_kernel_name(m->exec, *count)) != NULL) {
        struct rt_function *f = NULL;
        if (*count < most) {
            f = known_function(c, m, name) ?: rt_function_create(c, m, name, NULL);
            out[*count] = f;
        }
        if (*count < most && f == NULL)
            e = RT_ERROR_MEMORY_ALLOCATION;
        ++*count;
    }
    return e;
}

int rt_function_by_name(struct rt_context *c, struct rt_module *m, const char *name, void **out) {
    if (name == NULL || *name == 0 || out == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "no name, or no place for the function");
    int e = rt_module_ready(c, m);
    if (e != RT_SUCCESS)
        return e;
    struct rt_function *f = known_function(c, m, name);
    if (f == NULL && lower_find_kernel(m->exec, name) == NULL)
        return rt_say(c, RT_ERROR_NOT_FOUND, "%s has no kernel %s", m->name, name);
    if (f == NULL && (f = rt_function_create(c, m, name, NULL)) == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    *out = f;
    return function_ready(c, f);
}

int rt_symbol(struct rt_context *c, const void *host, uint64_t *address, uint64_t *size) {
    for (struct rt_module *m = c->modules; m != NULL; m = m->next)
        for (struct rt_variable *v = m->variables; v != NULL; v = v->next)
            if (host != NULL && (v->host == host || (v->managed != NULL && *v->managed == host))) {
                int e = rt_module_ready(c, m);
                if (e != RT_SUCCESS)
                    return e;
                if (lower_find_var(m->exec, v->name, address, size))
                    return RT_SUCCESS;
                return rt_say(c, RT_ERROR_INVALID_SYMBOL, "the PTX of %s has no variable %s", m->name, v->name);
            }
    return rt_say(c, RT_ERROR_INVALID_SYMBOL, "%p is not a device variable of this program", host);
}
