/* The runtime's symbols under the version node libcudart.so.12: each a jump to its implementation.
 *
 * A symbol can be in one node of a version script only, and that is libcudart.so.13; the other version needs a
 * .symver directive beside a definition of its own. Linked into the shared library alone: nothing in a static link
 * refers to these names, so the archive's member stays out. See symbols.def and exports.map.
 */
#include "cudart/core/jump.h"

#define JUMP_TO(name, target)                                                                                          \
    __asm__(".text\n"                                                                                                  \
            ".globl rt12_jump_" #name "\n"                                                                             \
            ".type rt12_jump_" #name ", %function\n"                                                                   \
            "rt12_jump_" #name ":\n" JUMP " " #target "\n"                                                             \
            ".size rt12_jump_" #name ", . - rt12_jump_" #name "\n"                                                     \
            ".symver rt12_jump_" #name ", " #name "@libcudart.so.12\n");

#define BOTH(name) JUMP_TO(name, name)
#define STUB(name) JUMP_TO(name, name)
#define DIFFER(name) JUMP_TO(name, rt12_##name)
#define ONLY12(name) /* exports.map puts these into the node */
#define STUB12(name)
#define STUB13(name)
#include "cudart/runtime/symbols.def"
