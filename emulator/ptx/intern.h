/* ptx/intern.h - every identifier and dotted word of a module, once (the parser's own; others include ptx/ir.h).
 *
 * A name carries what it means everywhere (opcode, modifier, special register, directive, module-scope symbol) and,
 * while its scope is open, what it is bound to. Look-up is one hash per token; resolution follows pointers.
 */
#ifndef PTX_INTERN_H
#define PTX_INTERN_H

#include "base/arena.h"
#include "ptx/ir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_dir {
    PTX_DIR_none = 0,
#define DIR(name) PTX_DIR_##name,
#include "ptx/directives.def"
#undef DIR
};

struct ptx_binding;

struct ptx_name {
    const char *text; /* NUL-terminated, without the dot of a dotted word */
    uint32_t len;
    uint16_t op, mod, sreg, dir; /* enum ptx_op, ptx_mod, ptx_sreg, ptx_dir; 0 when it is none */
    bool op_prefix;              /* a longer opcode begins with this text and a dot */
    uint64_t hash;
    struct ptx_name *chain;
    struct ptx_name *prefix;     /* of a name that ends in a number without leading zeros: the rest, for %r<59> */
    uint32_t suffix;             /* that number */
    struct ptx_binding *top;     /* innermost open binding */
    struct ptx_binding *range;   /* innermost open declaration name<n> */
    const struct ptx_func *func; /* module-scope symbols; these outlive the parse */
    const struct ptx_var *var;
};

struct ptx_interned {
    struct arena *arena;
    struct ptx_name **slots;
    uint32_t cap, count;
    uint64_t seed;
};

/* Makes the table, filled with opcodes, modifiers, special registers and directives. */
struct ptx_interned *ptx_intern_new(struct arena *a);
/* The name with this text; made when new. */
struct ptx_name *ptx_intern(struct ptx_interned *t, const char *s, size_t len);
/* The name with this text, or NULL. */
struct ptx_name *ptx_intern_find(const struct ptx_interned *t, const char *s, size_t len);

#endif
