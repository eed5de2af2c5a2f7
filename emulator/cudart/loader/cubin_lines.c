/* Line tables of machine code; contract in cubin_lines.h. */
#include "cudart/loader/cubin_lines.h"

#include "base/heap.h"
#include "base/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1 << 22, MAX_FILES = 4096, LOC_LINE = 40 /* bytes of the longest .loc line */ };

/* The address at this offset of a section is relative to this symbol. */
struct place {
    uint64_t offset;
    uint32_t symbol;
};

/* A table's row: from this address of a function on, the code is of this line. */
struct row {
    uint32_t function; /* number of its symbol */
    uint32_t file, line;
    uint64_t at;
};

struct table {
    const uint8_t *bytes; /* the section */
    size_t size;
    struct place *places; /* by offset */
    size_t num_places;
    struct row *rows;
    size_t num, room;
    size_t files, dirs; /* where the tables of names begin */
};

/* A place in a table; `bad` once it left it. */
struct cursor {
    const struct table *t;
    size_t at;
    bool bad;
};

static uint64_t take(struct cursor *c, unsigned n) {
    uint64_t v = 0;
    if (c->bad || n > c->t->size - c->at) {
        c->bad = true;
        return 0;
    }
    memcpy(&v, c->t->bytes + c->at, n);
    c->at += n;
    return v;
}

/* LEB128 (DWARF 2, 7.6). */
static uint64_t take_uleb(struct cursor *c) {
    uint64_t v = 0;
    for (unsigned shift = 0; !c->bad; shift += 7) {
        const uint64_t b = take(c, 1);
        v |= shift < 64 ? (b & 127) << shift : 0;
        if (b < 128)
            break;
    }
    return v;
}

static int64_t take_sleb(struct cursor *c) {
    uint64_t v = 0, b = 128;
    unsigned shift = 0;
    for (; !c->bad && b >= 128; shift += 7) {
        b = take(c, 1);
        v |= shift < 64 ? (b & 127) << shift : 0;
    }
    return (int64_t)(shift < 64 && b & 64 ? v | UINT64_MAX << shift : v);
}

static const char *take_string(struct cursor *c) {
    const char *text = (const char *)c->t->bytes + c->at;
    const char *end = c->bad ? NULL : memchr(text, 0, c->t->size - c->at);
    c->bad |= end == NULL;
    c->at += end ? (size_t)(end - text) + 1 : 0;
    return end ? text : "";
}

static int by_offset(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* Reads a section of relocations. False: no memory. */
static bool read_places(const struct elf_file *f, const Elf64_Shdr *rela, struct table *t) {
    Elf64_Rela r;
    t->num_places = rela->sh_size / sizeof r;
    t->places = try_calloc(t->num_places + 1, sizeof *t->places);
    if (t->places == NULL)
        return false;
    for (size_t i = 0; i < t->num_places && elf_entry(f, rela->sh_offset, sizeof r, i, &r, sizeof r); i++)
        t->places[i] = (struct place){r.r_offset, (uint32_t)ELF64_R_SYM(r.r_info)};
    qsort(t->places, t->num_places, sizeof *t->places, by_offset);
    return true;
}

/* The symbol that the address at `offset` of the section is relative to; 0: none is named. */
static uint32_t symbol_at(const struct table *t, uint64_t offset) {
    size_t low = 0, high = t->num_places;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (t->places[mid].offset < offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low < t->num_places && t->places[low].offset == offset ? t->places[low].symbol : 0;
}

static bool add_row(struct table *t, const struct row *r) {
    if (t->num == t->room) {
        if (t->room >= MAX_ROWS)
            return false;
        const size_t room = t->room ? 2 * t->room : 256;
        struct row *more = try_calloc(room, sizeof *more);
        if (more == NULL)
            return false;
        if (t->num != 0)
            memcpy(more, t->rows, t->num * sizeof *more);
        xfree(t->rows);
        t->rows = more;
        t->room = room;
    }
    t->rows[t->num++] = *r;
    return true;
}

/* Opcodes of a line program (DWARF 2, 6.2.5), and what an opcode of `base` and above does by itself. */
enum { EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BLOCK, CONST_ADD_PC, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

struct machine {
    struct row now;
    unsigned unit, range, base;
    int lowest; /* line_base */
};

static bool extended(struct table *t, struct cursor *c, struct machine *m) {
    const uint64_t n = take_uleb(c);
    const size_t at = c->at;
    if (c->bad || n == 0 || n > t->size - at)
        return false;
    const uint64_t op = take(c, 1);
    bool good = true;
    if (op == SET_ADDRESS && n == 9) {
        m->now.function = symbol_at(t, c->at);
        m->now.at = take(c, 8);
    } else if (op == END_SEQUENCE) {
        good = add_row(t, &(struct row){.function = m->now.function, .at = m->now.at});
        m->now = (struct row){.file = 1, .line = 1};
    }
    c->at = at + n;
    return good;
}

static bool step(struct table *t, struct cursor *c, struct machine *m) {
    unsigned op = (unsigned)take(c, 1);
    if (op >= m->base) {
        op -= m->base;
        m->now.at += (uint64_t)(op / m->range) * m->unit;
        m->now.line += (uint32_t)(m->lowest + (int)(op % m->range));
        return add_row(t, &m->now);
    }
    switch (op) {
    case EXTENDED:
        return extended(t, c, m);
    case COPY:
        return add_row(t, &m->now);
    case ADVANCE_PC:
        m->now.at += take_uleb(c) * m->unit;
        return true;
    case ADVANCE_LINE:
        m->now.line += (uint32_t)take_sleb(c);
        return true;
    case SET_FILE:
        m->now.file = (uint32_t)take_uleb(c);
        return true;
    case SET_COLUMN:
        take_uleb(c);
        return true;
    case CONST_ADD_PC:
        m->now.at += (uint64_t)((255 - m->base) / m->range) * m->unit;
        return true;
    case FIXED_ADVANCE_PC:
        m->now.at += take(c, 2);
        return true;
    default:
        return op == NEGATE || op == BLOCK;
    }
}

/* Reads the section's one line program: its rows, and where its names are. False where it is malformed. */
static bool read_table(const struct elf_file *f, const char *name, const char *rela, struct table *t) {
    Elf64_Shdr section, relocations;
    if (!cubin_section(f, name, &section))
        return false;
    *t = (struct table){.bytes = f->bytes + section.sh_offset, .size = section.sh_size};
    if (cubin_section(f, rela, &relocations) && !read_places(f, &relocations, t))
        return false;
    struct cursor c = {.t = t};
    const uint64_t length = take(&c, 4), version = take(&c, 2), header = take(&c, 4);
    const size_t end = c.bad || length > t->size - 4 ? 0 : 4 + length, program = c.at + header;
    struct machine m = {.now = {.file = 1, .line = 1}};
    m.unit = (unsigned)take(&c, 1);
    take(&c, 1);
    const int lowest = (int)take(&c, 1);
    m.lowest = lowest < 128 ? lowest : lowest - 256;
    m.range = (unsigned)take(&c, 1);
    m.base = (unsigned)take(&c, 1);
    if (c.bad || version != 2 || program > end || m.range == 0 || m.base != FIXED_ADVANCE_PC + 1)
        return false;
    take(&c, 8);
    take(&c, 1); /* how many operands the opcodes 1 to 9 have */
    t->dirs = c.at;
    while (!c.bad && *take_string(&c) != 0)
        ;
    t->files = c.at;
    bool good = !c.bad && t->files <= program;
    t->size = end;
    c.at = program;
    while (good && c.at < end)
        good = step(t, &c, &m) && !c.bad;
    return good;
}

static int by_place(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The row of the table that an address of a function falls under; NULL: none. The rows are sorted. */
static const struct row *row_at(const struct table *t, const struct row *place) {
    size_t low = 0, high = t->num;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (by_place(&t->rows[mid], place) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    const struct row *r = low ? &t->rows[low - 1] : NULL;
    return r != NULL && r->function == place->function && r->line != 0 ? r : NULL;
}

/* The source of each line of the PTX, counted from 1; line 0 where it is not known. */
static struct row *join(struct table *source, const struct table *ptx, size_t lines) {
    struct row *of = try_calloc(lines + 1, sizeof *of);
    if (source->num != 0)
        qsort(source->rows, source->num, sizeof *source->rows, by_place);
    for (size_t i = 0; of != NULL && i < ptx->num; i++) {
        const uint32_t line = ptx->rows[i].line;
        const struct row *r = line != 0 && line <= lines ? row_at(source, &ptx->rows[i]) : NULL;
        if (r != NULL && of[line].line == 0)
            of[line] = *r;
    }
    return of;
}

/* --- machine instructions of a line ------------------------------------------------------------------------------- */

bool cubin_counts(const struct elf_file *f, uint32_t *counts, uint32_t lines) {
    enum { BYTES = 16 }; /* of an instruction, from Volta on (CUDA Binary Utilities, "Instruction Set Reference") */
    struct table t = {0};
    const bool good = read_table(f, ".nv_debug_line_sass", ".rela.nv_debug_line_sass", &t) && t.num > 0;
    if (good)
        qsort(t.rows, t.num, sizeof *t.rows, by_place);
    for (size_t i = 0; good && i + 1 < t.num; i++) /* the last of a function is its end, of line 0 */
        if (t.rows[i].function == t.rows[i + 1].function && t.rows[i].line < lines)
            counts[t.rows[i].line] += (uint32_t)((t.rows[i + 1].at - t.rows[i].at) / BYTES);
    xfree(t.rows);
    xfree(t.places);
    return good;
}

/* --- the new text ------------------------------------------------------------------------------------------------- */

struct writer {
    char *text;
    size_t len;
    const struct row *of; /* by line of the PTX */
    struct row last;      /* of the .loc line that holds */
    char before;          /* last character of the last line that was not empty */
};

/* The source of the run of lines that begins with line `from`, at `p`; line 0: not known. */
static struct row source_of_run(const struct row *of, size_t from, const char *p, const char *end) {
    for (; p < end && *p != '\n'; from++) {
        if (of[from].line != 0)
            return of[from];
        const char *next = memchr(p, '\n', (size_t)(end - p));
        p = next ? next + 1 : end;
    }
    return (struct row){0};
}

/* An empty line before line `next`, at `p`: .loc, if that ends what held so far. Not inside a statement. */
static void write_loc(struct writer *w, size_t next, const char *p, const char *end) {
    const struct row r = source_of_run(w->of, next, p, end);
    if ((p < end && *p == '\n') || strchr(";{}:", w->before) == NULL || w->before == 0 ||
        (r.line == w->last.line && r.file == w->last.file))
        return;
    if (r.line == 0) { /* line 0 of a file says that the line is not known */
        w->len += (size_t)sprintf(w->text + w->len, ".loc 1 0 0");
    } else {
        w->len += (size_t)sprintf(w->text + w->len, ".loc %u %u 0", r.file, r.line);
    }
    w->last = r;
}

/* Appends "folder/name" in quotes. PTX has no escapes, and a string ends with its line: what a name must not have there
 * becomes '?'. */
static bool write_name(struct writer *w, const char *dir, const char *name, size_t room) {
    char *const at = w->text + w->len;
    const int n = snprintf(at, room, "\"%s%s%s\"", dir, *dir && *name != '/' ? "/" : "", name);
    if (n < 0 || (size_t)n >= room)
        return false;
    source_plain(at + 1, (size_t)n - 2);
    for (char *p = at + 1; p < at + n - 1; p++)
        *p = *p == '"' ? '?' : *p;
    w->len += (size_t)n;
    return true;
}

/* The folders by number, from 1 on; NULL in what there is none for. NULL: no memory. */
static const char **read_dirs(const struct table *t) {
    const char **dirs = try_calloc(MAX_FILES, sizeof *dirs);
    struct cursor c = {.t = t, .at = t->dirs};
    for (unsigned i = 1; dirs != NULL && i < MAX_FILES; i++) {
        const char *name = take_string(&c);
        if (*name == 0)
            break;
        dirs[i] = name;
    }
    return dirs;
}

static void write_files(struct writer *w, const struct table *t, size_t room) {
    struct cursor c = {.t = t, .at = t->files};
    const char **dirs = read_dirs(t);
    for (unsigned file = 1; dirs != NULL && file <= MAX_FILES && room - w->len > LOC_LINE; file++) {
        const char *name = take_string(&c);
        const uint64_t number = take_uleb(&c);
        take_uleb(&c);
        take_uleb(&c);
        if (c.bad || *name == 0)
            break;
        const char *dir = number < MAX_FILES && dirs[number] ? dirs[number] : "";
        const size_t begin = w->len;
        w->len += (size_t)sprintf(w->text + w->len, "\n.file %u ", file);
        if (!write_name(w, dir, name, room - w->len)) {
            w->len = begin;
            break;
        }
    }
    w->text[w->len] = 0;
    xfree(dirs);
}

static char *write_text(const struct table *source, const struct row *of, const char *text, size_t len, size_t empty,
                        size_t *new_len) {
    const size_t room = len + empty * LOC_LINE + (source->size + 16) * 64 + 2;
    struct writer w = {.text = try_calloc(room, 1), .of = of};
    const char *const end = text + len;
    for (size_t line = 1; w.text != NULL && text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        if (stop == text) {
            write_loc(&w, line + 1, stop < end ? stop + 1 : end, end);
        } else {
            memcpy(w.text + w.len, text, (size_t)(stop - text));
            w.len += (size_t)(stop - text);
            w.before = stop[-1];
        }
        if (stop < end)
            w.text[w.len++] = '\n';
        text = stop + 1;
    }
    if (w.text != NULL) {
        write_files(&w, source, room);
        *new_len = w.len;
    }
    return w.text;
}

char *cubin_with_lines(const struct elf_file *f, const char *text, size_t len, size_t *new_len) {
    struct table source = {0}, ptx = {0};
    size_t lines = 1, empty = 0;
    char *out = NULL;
    for (size_t i = 0; i < len; i++) {
        lines += text[i] == '\n';
        empty += text[i] == '\n' && (i == 0 || text[i - 1] == '\n');
    }
    if (read_table(f, ".debug_line", ".rela.debug_line", &source) &&
        read_table(f, ".nv_debug_line_sass", ".rela.nv_debug_line_sass", &ptx)) {
        struct row *of = join(&source, &ptx, lines);
        if (of != NULL)
            out = write_text(&source, of, text, len, empty, new_len);
        xfree(of);
    }
    xfree(source.rows);
    xfree(source.places);
    xfree(ptx.rows);
    xfree(ptx.places);
    return out;
}
