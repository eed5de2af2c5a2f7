/* base/source.c - what lines of source files call things; contract in source.h. */
#include "base/source.h"

#include "base/heap.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (8l << 20) /* bytes */
#define MAX_NAME 48         /* bytes of a name that are taken */

/* --- files -------------------------------------------------------------------------------------------------------- */

struct source_file {
    struct source_file *next;
    char *path;
    char *text;     /* NULL: it cannot be read */
    uint32_t *line; /* where each begins */
    uint32_t lines;
};

/* Does the name end as that of a source does? */
static bool is_source(const char *name) {
    static const char *const ends[] = {".cu", ".cuh", ".h", ".hpp", ".inl", ".c", ".cc", ".cpp", ".py", ".ptx"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0)
            return !strchr(dot, '/');
    return false;
}

static bool below(const char *path, const char *folder) {
    char root[PATH_MAX];
    const size_t n = folder && realpath(folder, root) ? strlen(root) : 0;
    return n && strncmp(path, root, n) == 0 && (path[n] == '/' || n == 1);
}

int source_open(const char *path) {
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(path, real) || !(is_source(real) || below(real, getenv(SOURCE_ROOT))))
        return -1;
    const int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Bytes of the UTF-8 character at s, of which n are there; 0 where it is none (RFC 3629, 4), more than n where it is
 * cut. */
static size_t utf8_length(const unsigned char *s, size_t n) {
    const size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (length > n)
        return length;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

bool source_plain(char *text, size_t n) {
    bool utf8 = true;
    for (size_t i = 0, length; i < n; i += length) {
        unsigned char *s = (unsigned char *)text + i;
        length = utf8_length(s, n - i);
        utf8 &= length != 0;
        const bool c1 = length == 2 && s[0] == 0xc2 && s[1] < 0xa0; /* U+0080 to U+009F are control characters */
        if (s[0] == '\t')
            s[0] = ' ';
        else if (length == 0 || length > n - i || c1 || (s[0] < ' ' && s[0] != 0) || s[0] == 0x7f)
            memset(s, '?', c1 ? 2 : length > n - i ? n - i : 1);
        length += length == 0;
    }
    return utf8;
}

static char *read_text(const char *path, int64_t newest) {
    struct stat st;
    const int fd = source_open(path);
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (f && (fstat(fd, &st) != 0 || (newest && st.st_mtime > newest) || st.st_size >= MAX_FILE)) {
        fclose(f);
        return NULL;
    }
    if (!f)
        return NULL;
    char *text = xcalloc((size_t)st.st_size + 1, 1);
    text[fread(text, 1, (size_t)st.st_size, f)] = 0;
    fclose(f);
    return text;
}

static struct source_file *open_file(struct source_files *files, const char *path) {
    struct source_file **at = &files->first;
    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->path, path) == 0)
            return *at;
    struct source_file *f = *at = xcalloc(1, sizeof *f);
    f->path = xstrdup(path);
    f->text = read_text(path, files->newest);
    uint32_t cap = 0;
    for (const char *s = f->text; s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) {
        f->line = xgrow(f->line, f->lines, &cap, sizeof *f->line);
        f->line[f->lines++] = (uint32_t)(s - f->text);
    }
    return f;
}

bool source_line(struct source_files *files, const char *path, uint32_t line, char out[SOURCE_LINE]) {
    const struct source_file *f = path && *path && line ? open_file(files, path) : NULL;
    if (!f || line > f->lines)
        return false;
    const char *s = f->text + f->line[line - 1];
    snprintf(out, SOURCE_LINE, "%.*s", (int)strcspn(s, "\r\n"), s);
    return source_plain(out, strlen(out));
}

void source_free(struct source_files *files) {
    for (struct source_file *f = files->first, *next; f; f = next) {
        next = f->next;
        xfree(f->path);
        xfree(f->text);
        xfree(f->line);
        xfree(f);
    }
    files->first = NULL;
}

int64_t source_program_time(void) {
    struct stat program;
    return stat("/proc/self/exe", &program) == 0 ? (int64_t)program.st_mtime : INT64_C(1);
}

/* --- expressions -------------------------------------------------------------------------------------------------- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where the expression that begins at s ends: at a comma, or a bracket that it did not open. */
static const char *end_of(const char *s) {
    for (int depth = 0; *s && (depth || (*s != ',' && *s != ')' && *s != ']' && *s != ';')); s++)
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    return s;
}

/* Where the object expression in front of s begins, as of a[i].b-> in front of init. */
static const char *start_of(const char *line, const char *s) {
    for (int depth = 0; s > line; s--) {
        const char c = s[-1];
        depth += (c == ')' || c == ']') - (c == '(' || c == '[');
        if (depth < 0 || (!depth && !is_word(c) && c != '.' && c != '>' && c != '-' && c != '[' && c != '('))
            break;
    }
    return s;
}

/* The index between the brackets that begin at s. */
static int32_t index_at(const char *s) {
    char *end;
    const long n = strtol(s, &end, 10);
    return end > s && *end == ']' && n >= 0 && n < 1 << 20 ? (int32_t)n : SOURCE_SOME_INDEX;
}

/* The last member that the expression names, without what is in front of it and without an index. */
static bool last_member(const char *s, const char *end, char *out, size_t size, int32_t *index) {
    const char *amp = memchr(s, '&', (size_t)(end - s));
    if (amp) {
        s = amp + 1;
        end = end_of(s);
    }
    *index = SOURCE_WITHOUT_INDEX;
    for (int depth = 0; end > s && (depth || end[-1] == ']' || end[-1] == ' '); end--) {
        depth += (end[-1] == ']') - (end[-1] == '[');
        if (end[-1] == '[' && depth == 0)
            *index = index_at(end);
    }
    const char *name = end;
    while (name > s && is_word(name[-1]))
        name--;
    if (name == end || !(isalpha((unsigned char)*name) || *name == '_') || strncmp(s, "this", 4) == 0)
        return false;
    snprintf(out, size, "%.*s", (int)(end - name < MAX_NAME ? end - name : MAX_NAME), name);
    return true;
}

bool source_initialises(const char *line, char *out, size_t size, int32_t *index) {
    const char *call = NULL;
    int32_t none;
    for (const char *s = strstr(line, "init"); s; s = strstr(s + 1, "init")) {
        if (s[4 + strspn(s + 4, " ")] != '(')
            continue;
        if (call)
            return false;
        call = s;
    }
    if (!call)
        return false;
    index = index ? index : &none;
    const char *open = strchr(call, '(');
    if (call > line + 1 && (call[-1] == '.' || (call[-1] == '>' && call[-2] == '-'))) {
        const char *end = call - (call[-1] == '.' ? 1 : 2);
        return last_member(start_of(line, end), end, out, size, index);
    }
    return last_member(open + 1, end_of(open + 1), out, size, index);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

const char *source_word(const char **at, size_t *length) {
    const char *s = *at;
    for (; *s && !(s[0] == '/' && (s[1] == '/' || s[1] == '*')); s++) {
        const char *word = s;
        while (is_word(*s))
            s++;
        if (s == word)
            continue;
        *at = s;
        *length = (size_t)(s - word);
        if (!isdigit((unsigned char)*word))
            return word;
        s--;
    }
    *at = s;
    return NULL;
}

static bool is_keyword(const char *word, size_t n) {
    static const char *const list[] = {"if", "while", "for", "switch", "return", "sizeof", "alignof", "else", "do"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strlen(list[i]) == n && memcmp(list[i], word, n) == 0)
            return true;
    return false;
}

/* Behind the template arguments that begin at s; s where none do. */
static const char *behind_template(const char *s) {
    int depth = 0;
    for (const char *t = s; *t && *t != ';' && *t != '&' && *t != '|'; t++) {
        depth += (*t == '<') - (*t == '>');
        if (depth == 0)
            return t > s ? t + 1 : s;
    }
    return s;
}

/* The name of the call that is no argument of another, the last one of the line; NULL: there is none. */
static const char *find_call(const char *line, size_t *length, const char **arguments) {
    const char *at = line, *from = line, *word, *best = NULL;
    size_t n;
    int depth = 0, best_depth = 0;
    while ((word = source_word(&at, &n)) != NULL) {
        for (; from < word; from++)
            depth += (*from == '(') - (*from == ')');
        const char *open = behind_template(at);
        open += strspn(open, " ");
        if (*open != '(' || is_keyword(word, n) || (best && depth > best_depth))
            continue;
        best = word;
        *length = n;
        *arguments = open + 1;
        best_depth = depth;
    }
    return best;
}

bool source_calls(const char *line, char *out, size_t size) {
    const char *arguments;
    size_t length;
    const char *call = find_call(line, &length, &arguments);
    if (call)
        snprintf(out, size, "%.*s", (int)(length < MAX_NAME ? length : MAX_NAME), call);
    return call != NULL;
}

bool source_argument(const char *line, char *out, size_t size) {
    const char *s;
    size_t length;
    int32_t index;
    if (!find_call(line, &length, &s))
        return false;
    const char *end = end_of(s);
    while (end > s && end[-1] == ')') { /* the argument of a conversion */
        const char *open = memchr(s, '(', (size_t)(end - s));
        if (!open)
            return false;
        s = open + 1;
        end = end_of(s);
    }
    return last_member(s, end, out, size, &index);
}

/* --- symbols ------------------------------------------------------------------------------------------------------ */

void source_symbol(const char *symbol, char *out, size_t size) {
    const char *best = symbol;
    size_t length = strlen(symbol);
    for (const char *s = symbol; symbol[0] == '_' && symbol[1] == 'Z' && *s;) {
        char *after;
        const unsigned long n = isdigit((unsigned char)*s) ? strtoul(s, &after, 10) : 0;
        if (n == 0 || n > strlen(after)) {
            s++;
            continue;
        }
        best = after;
        length = n;
        s = after + n;
    }
    snprintf(out, size, "%.*s", (int)(length < MAX_NAME ? length : MAX_NAME), best);
}
