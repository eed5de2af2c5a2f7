/* Runtime calls that the emulator does not support: each answers cudaErrorNotSupported and names itself once. */
#include "cudart/core/context.h"

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

/* Arguments are not looked at: a C caller passes them in registers or cleans its own stack. */
static int refuse(int stub, const char *name) {
    struct rt_context *c = rt_enter(name);
    if (!c->stub_told[stub])
        rt_say(c, 0, "not supported by the emulator");
    c->stub_told[stub] = true;
    return rt_leave(c, RT_ERROR_NOT_SUPPORTED);
}

#define REFUSE(name)                                                                                                   \
    RT_API int name(void);                                                                                             \
    RT_API int name(void) { return refuse(STUB_##name, #name); }

#define BOTH(name)
#define DIFFER(name)
#define ONLY12(name)
#define STUB(name) REFUSE(name)
#define STUB12(name) REFUSE(name)
#define STUB13(name) REFUSE(name)
#include "cudart/runtime/symbols.def"
