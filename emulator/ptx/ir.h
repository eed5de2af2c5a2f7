/* ptx/ir.h - PTX as typed data: what the parser makes and the executor lowers.
 *
 * The parser is purely syntactic plus name resolution: it splits every instruction into opcode, modifiers and
 * operands, resolves registers, labels, variables and functions through their scopes, and attaches the source line.
 * It does not judge whether a form is legal; isa/ does that when it binds the instruction to its semantics.
 * An opcode that is not in ptx/opcodes.def becomes PTX_OP_unknown with its text kept, so that it can be refused by
 * name if it is ever reached. Malformed text is an error of the whole module, with line and caret.
 *
 * All memory belongs to the module's arena; ptx_module_free releases everything. Read-only once parsed.
 */
#ifndef PTX_IR_H
#define PTX_IR_H

#include "base/arena.h"
#include "report/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opcodes: the first dotted word of an instruction ("add", "tcgen05", ...). For families whose second word is an
 * operation rather than a qualifier (tcgen05.X, mbarrier.X, cp.X, barrier.cluster, fence.proxy, ...) the opcode is
 * the whole path; see opcodes.def. */
enum ptx_op {
    PTX_OP_unknown = 0,
#define OP(name, ...) PTX_OP_##name,
#include "ptx/opcodes.def"
#undef OP
    PTX_OP_COUNT
};

/* What kind of instruction an opcode is; families.def. */
enum ptx_family {
    PTX_FAMILY_none = 0, /* not implemented */
#define FAMILY(name) PTX_FAMILY_##name,
#include "ptx/families.def"
#undef FAMILY
    PTX_FAMILY_COUNT
};

/* Modifiers: every dotted word after the opcode, types included, in the order written.
 * An unknown word becomes PTX_MOD_unknown; the instruction keeps its text. */
enum ptx_mod {
    PTX_MOD_unknown = 0,
#define MOD(name, ...) PTX_MOD_##name,
#include "ptx/modifiers.def"
#undef MOD
    PTX_MOD_COUNT
};

/* What a modifier says something of; modifiers.def. */
enum ptx_kind {
    PTX_KIND_none = 0,
    PTX_KIND_flag, /* stands alone; an instruction may have several */
    PTX_KIND_type,
    PTX_KIND_format,
    PTX_KIND_unpacked,
    PTX_KIND_packed,
    PTX_KIND_vector,
    PTX_KIND_rounding,
    PTX_KIND_part,
    PTX_KIND_comparison,
    PTX_KIND_class,
    PTX_KIND_operation,
    PTX_KIND_vote,
    PTX_KIND_direction,
    PTX_KIND_edge,
    PTX_KIND_shuffle,
    PTX_KIND_permutation,
    PTX_KIND_space,
    PTX_KIND_order,
    PTX_KIND_scope,
    PTX_KIND_cache,
    PTX_KIND_level,
    PTX_KIND_evict_l1,
    PTX_KIND_evict_l2,
    PTX_KIND_prefetch,
    PTX_KIND_policy,
    PTX_KIND_proxy,
    PTX_KIND_completion,
    PTX_KIND_multicast,
    PTX_KIND_mode,
    PTX_KIND_dimension,
    PTX_KIND_field,
    PTX_KIND_query,
    PTX_KIND_action,
    PTX_KIND_shape,
    PTX_KIND_layout,
    PTX_KIND_repeat,
    PTX_KIND_matrix,
    PTX_KIND_kind,
    PTX_KIND_scale,
    PTX_KIND_cta_group,
    PTX_KIND_warps,
    PTX_KIND_collector,
    PTX_KIND_accumulator,
    PTX_KIND_texture,
    PTX_KIND_video,
    PTX_KIND_COUNT
};

struct ptx_op_row {
    const char *text, *section; /* "9.7.1.1" */
    enum ptx_family family;
    const char *operands; /* what may stand where: the legend of opcodes.def */
};
extern const struct ptx_op_row ptx_ops[PTX_OP_COUNT];
static inline const struct ptx_op_row *ptx_op_row(enum ptx_op op) {
    return &ptx_ops[(unsigned)op < PTX_OP_COUNT ? op : 0];
}
static inline const char *ptx_op_text(enum ptx_op op) { return ptx_op_row(op)->text; }
static inline const char *ptx_op_section(enum ptx_op op) { return ptx_op_row(op)->section; }
static inline enum ptx_family ptx_op_family(enum ptx_op op) { return ptx_op_row(op)->family; }
static inline const char *ptx_op_operands(enum ptx_op op) { return ptx_op_row(op)->operands; }
/* Does it compute registers from registers, and no address? */
static inline bool ptx_op_computes(enum ptx_op op) {
    const enum ptx_family f = ptx_op_family(op);
    return f >= PTX_FAMILY_arithmetic && f <= PTX_FAMILY_permute;
}
const char *ptx_mod_text(enum ptx_mod mod);
enum ptx_kind ptx_mod_kind(enum ptx_mod mod);
unsigned ptx_mod_number(enum ptx_mod mod); /* the number in its text: .v4, .2d, .x128, .cta_group::2; 0 without one */

/* Register and variable types. Bit sizes: ptx_type_bits. */
enum ptx_type {
    PTX_NOTYPE = 0,
    PTX_B8,
    PTX_U8,
    PTX_S8,
    PTX_B16,
    PTX_U16,
    PTX_S16,
    PTX_F16,
    PTX_BF16,
    PTX_B32,
    PTX_U32,
    PTX_S32,
    PTX_F32,
    PTX_F16X2,
    PTX_BF16X2,
    PTX_B64,
    PTX_U64,
    PTX_S64,
    PTX_F64,
    PTX_F32X2,
    PTX_B128,
    PTX_PRED,
};
unsigned ptx_type_bits(enum ptx_type t); /* PRED is 1 */
/* The type a modifier names (".s32" -> PTX_S32); PTX_NOTYPE for everything else (.e4m3x2, .tf32, .sync ...). */
enum ptx_type ptx_mod_type(enum ptx_mod mod);

enum ptx_space {
    PTX_SPACE_REG,
    PTX_SPACE_PARAM, /* kernel parameters, formal and call parameters of functions */
    PTX_SPACE_LOCAL,
    PTX_SPACE_SHARED, /* static: size known; dynamic: extern, incomplete array */
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
};

/* One scalar register of a function. `index` is dense within the function. Of a range (%r<59>) only the registers
 * that the body names exist. */
struct ptx_reg {
    const char *name; /* "%r12" as written; two registers of different scopes may share a name */
    enum ptx_type type;
    uint32_t index;
};

/* Initialiser element that is an address: generic(var) + addend, or a function's address. */
struct ptx_reloc {
    uint64_t offset; /* byte offset in the variable */
    uint32_t size;   /* bytes, 8 normally (4 for 32-bit) */
    bool generic;    /* written as generic(sym) */
    const char *symbol;
    int64_t addend;
    unsigned shift; /* mask operator, 0xFF00(sym) (5.4.4): the element is byte shift / 8 of the address, size 1 */
};

struct ptx_var {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    uint32_t vector; /* 1, 2, 4 or 8: elements of .v2/.v4/.v8 */
    uint32_t align;  /* bytes, at least the element's size */
    uint64_t size;   /* bytes; 0 for an extern incomplete array */
    bool is_extern, is_visible, is_weak, is_common;
    bool incomplete;     /* declared as name[] */
    bool managed;        /* .attribute(.managed), 5.4.8 */
    const uint8_t *init; /* size bytes, or NULL when zero */
    const struct ptx_reloc *relocs;
    uint32_t num_relocs;
    uint32_t index;               /* dense within its owner (module or function) */
    uint32_t line;                /* PTX line of the declaration */
    const struct ptx_func *owner; /* NULL: module scope, as .global and .const declared inside a body are */
    const struct ptx_reg *reg;    /* formal parameter declared as .reg (space REG, definitions): where it goes */
};

enum ptx_operand_kind {
    PTX_OPND_NONE = 0,
    PTX_OPND_REG,   /* reg */
    PTX_OPND_IMM,   /* imm: raw bits; imm_kind says how it was written */
    PTX_OPND_SREG,  /* special register (%tid.x): `sreg` */
    PTX_OPND_VAR,   /* address of var + offset (mov.u64 %rd, var+4; or a bare .param name in a call) */
    PTX_OPND_FUNC,  /* function name, as call target or address taken */
    PTX_OPND_LABEL, /* label: target is an instruction index */
    PTX_OPND_TABLE, /* name of a .branchtargets / .calltargets / .callprototype declaration: `table` */
    PTX_OPND_VEC,   /* {a, b, ...}: elems/num_elems */
    PTX_OPND_MEM,   /* [base + offset]: see below; `coords` for tensor addresses [map, {c0, c1}] and friends */
    PTX_OPND_SINK,  /* _ */
    PTX_OPND_PAIR,  /* d|p: elems[0] | elems[1] (setp p|q, shfl d|p, elect d|p, match d|p) */
};

enum ptx_imm_kind {
    PTX_IMM_INT, /* imm = two's complement 64-bit value (suffix U allowed) */
    PTX_IMM_F32, /* 0fXXXXXXXX: imm = the 32 bits */
    PTX_IMM_F64, /* 0dXXXXXXXXXXXXXXXX or a decimal floating-point constant: imm = the 64 bits of the double */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    enum ptx_imm_kind imm_kind;
    bool neg; /* !p in operand position (predicate source), as in and.pred p, q, !r or vote.sync */
    /* .xN selectors of vector registers do not occur in generated PTX and are refused by the parser */
    uint32_t sreg;  /* enum ptx_sreg */
    uint32_t label; /* LABEL: index into func->insns; num_insns for a label at the end of the body */
    uint32_t num_elems;
    uint64_t imm;
    int64_t offset; /* VAR and MEM: constant byte offset */
    const struct ptx_reg *reg;
    const struct ptx_var *var; /* VAR, and MEM with a variable base */
    const struct ptx_func *func;
    const struct ptx_table *table;
    const struct ptx_operand *elems; /* VEC, PAIR; MEM: the elements after the comma, see num_elems */
    /* MEM: the base is reg, var, or neither (absolute immediate in offset). [%r1+%r2] does not exist in PTX.
     * Tensor and other compound addresses, [a, {x, y}] or [a, {x,y}, {..}] -> elems[0] is the VEC after the first
     * comma, etc. */
};

/* A label table: .branchtargets (labels are instruction indices), .calltargets (funcs) or .callprototype (proto). */
struct ptx_table {
    const char *name;
    const uint32_t *labels;
    const struct ptx_func **funcs;
    const struct ptx_func *proto; /* a body-less function holding parameter lists */
    uint32_t count;
};

#define PTX_MAX_MODS 20
#define PTX_MAX_OPERANDS 12

struct ptx_insn {
    enum ptx_op op;
    uint16_t mods[PTX_MAX_MODS]; /* enum ptx_mod, in the order written */
    uint8_t num_mods;
    uint8_t num_operands;
    bool guard_neg;                     /* @!p */
    const struct ptx_reg *guard;        /* @p, or NULL */
    const struct ptx_operand *operands; /* num_operands, in the order written; call: see below */
    struct diag_site site;
    /* call (retvals), func, (args), table: operands[0] = VEC of return operands (num_elems 0 if none),
     * operands[1] = FUNC or REG, operands[2] = VEC of arguments, operands[3] = TABLE if present. */
};

bool ptx_has(const struct ptx_insn *in, enum ptx_mod mod);
/* The part of ptx_op_operands that is for the instruction's words: of `.word A; B` one. */
const char *ptx_insn_form(const struct ptx_insn *in);
/* Is its first operand, or each of a pair or a list there, a destination? The others are sources. */
bool ptx_has_destination(const struct ptx_insn *in);
/* The n-th (0-based) modifier that names a type, or PTX_NOTYPE. */
enum ptx_type ptx_insn_type(const struct ptx_insn *in, unsigned n);

enum ptx_sreg {
    PTX_SREG_unknown = 0,
#define SREG(name, ...) PTX_SREG_##name,
#include "ptx/sregs.def"
#undef SREG
    PTX_SREG_COUNT
};
const char *ptx_sreg_text(enum ptx_sreg r);
unsigned ptx_sreg_bits(enum ptx_sreg r); /* of its type; a predicate has 1 */
bool ptx_sreg_is_fixed(enum ptx_sreg r); /* keeps its value while the thread lives */

struct ptx_func {
    const char *name;
    const struct ptx_func *alias_of; /* .alias (11.2.3): uses of this name already refer to that function */
    bool is_entry;
    bool is_extern; /* a declaration without a body (vprintf, malloc, __assertfail, ...) */
    bool is_visible, is_weak, is_noreturn;
    uint32_t index;             /* dense within the module */
    const struct ptx_var *rets; /* return parameters (space PARAM) */
    uint32_t num_rets;
    const struct ptx_var *params; /* laid out by ptx_param_offset */
    uint32_t num_params;
    const struct ptx_reg *regs;
    uint32_t num_regs;
    /* local, shared and call-.param variables of the body, any scope; index = position */
    const struct ptx_var *const *vars;
    uint32_t num_vars;
    const struct ptx_insn *insns;
    uint32_t num_insns;
    /* performance-tuning directives, 0 when absent (11.4) */
    struct {
        uint32_t x, y, z;
    } maxntid, reqntid, reqnctapercluster;
    uint32_t minnctapersm, maxnreg, maxclusterrank;
    bool explicitcluster, blocksareclusters;
    uint32_t line;
};

/* Byte offset of kernel/function parameter i: natural alignment, in order. *total (optional) gets the whole size. */
uint64_t ptx_param_offset(const struct ptx_func *f, uint32_t i, uint64_t *total);

struct ptx_module {
    struct arena arena;
    const char *name;                      /* as given to ptx_parse */
    uint32_t version_major, version_minor; /* .version 9.0 */
    char target[32];                       /* "sm_100f", "sm_100a", "sm_90", ... */
    const struct ptx_func *const *funcs;
    uint32_t num_funcs;
    const struct ptx_var *const *vars; /* module-scope variables */
    uint32_t num_vars;
    const struct ptx_interned *names; /* of ptx_find_func and ptx_find_var */
};

/* Parses text[0..len). `name` is what diagnostics call it. On malformed text reports once through `sink`
 * ("name:line:col: error: ..." with the line and a caret) and returns NULL. Never reads past len; NULs are errors.
 * Bounded: nesting, counts and sizes have limits that are reported. Thread safe. A NULL sink is silent. */
struct ptx_module *ptx_parse(const char *text, size_t len, const char *name, const struct diag_sink *sink);
void ptx_module_free(struct ptx_module *m); /* NULL is allowed */
/* By the name in the PTX (mangled); NULL when there is none. An alias finds its function. */
const struct ptx_func *ptx_find_func(const struct ptx_module *m, const char *name);
const struct ptx_var *ptx_find_var(const struct ptx_module *m, const char *name);

#endif
