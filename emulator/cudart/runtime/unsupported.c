/* Runtime calls that the emulator does not support: each answers cudaErrorNotSupported and names itself once. */
#include "cudart/core/calls.h"

enum {
#define BOTH(name)
#define DIFFER(name)
#define ONLY12(name)
#define STUB(name) STUB_##name,
#define STUB12(name) STUB_##name,
#define STUB13(name) STUB_##name,
#include "cudart/runtime/symbols.def"
    STUB_COUNT
};
_Static_assert((int)STUB_COUNT <= (int)RT_MAX_STUBS, "raise RT_MAX_STUBS");

#define REFUSE(name)                                                                                                   \
    RT_API int name(void);                                                                                             \
    RT_API int name(void) { return rt_call_unsupported(#name, STUB_##name); }

#define BOTH(name)
#define DIFFER(name)
#define ONLY12(name)
#define STUB(name) REFUSE(name)
#define STUB12(name) REFUSE(name)
#define STUB13(name) REFUSE(name)
#include "cudart/runtime/symbols.def"
