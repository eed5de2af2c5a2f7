/* Who may enter the shim: calls, and the end of the process, from signal handlers, host functions, exit handlers and
 * children while a kernel runs. Each scene is a process of its own, which ends with the number of its check that fell,
 * 0 for none; one that hangs is killed after LIMIT seconds. */
#include "check.h"
#include "cudart/core/abi.h"
#include "cudart/loader/fatbin.h"
#include "unit/cudart/containers.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 20, ALL_WELL = 77 }; /* seconds; how a scene ends that has its exit handlers run */
/* Turns of `busy` that outlast what a scene does meanwhile, and not LIMIT. */
#if defined(__SANITIZE_THREAD__)
enum { LONG = 300000 };
#else
enum { LONG = 3000000 };
#endif

#define HEAD ".version 9.0\n.target sm_100f\n.address_size 64\n"
/* Each CTA writes a word of its own: 1 when it begins, and `busy`, which counts to `turns`, 2 when it is done. */
#define BEGIN                                                                                                          \
    "{\n.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p<2>;\n"                                                        \
    "ld.param.u64 %rd1, [flag]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"         \
    "st.global.u32 [%rd1], 1;\n"
static const char text[] = HEAD ".visible .entry spin(.param .u64 flag)\n" BEGIN "$again: bra $again;\n}\n"
                                ".visible .entry busy(.param .u64 flag, .param .u32 turns)\n" BEGIN
                                "ld.param.u32 %r2, [turns]; mov.u32 %r1, 0;\n"
                                "$again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra $again;\n"
                                "st.global.u32 [%rd1], 2; ret;\n}\n";

void **__cudaRegisterFatBinary(const void *);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
int cudaLaunchKernel(const void *, struct rt_dim3, struct rt_dim3, void **, size_t, void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMalloc(void **, size_t);
int cudaMemset(void *, int, size_t);
int cudaFree(void *);
int cudaGetLastError(void);
int cudaDeviceReset(void);
int cudaDeviceSynchronize(void);
int cudaGetDeviceCount(int *);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
int cuInit(unsigned);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuLaunchHostFunc(void *, void (*)(void *), void *);

/* --- a program as nvcc makes it ----------------------------------------------------------------------------------- */

static char spin, busy;
static struct container container;
static struct fatbin_wrapper wrapper;
static void **handle;
static volatile uint32_t *flag; /* managed, a word for each CTA */

static void unregister(void) { __cudaUnregisterFatBinary(handle); }

static void register_program(void) {
    container_begin(&container);
    container_ptx(&container, 100, text);
    wrapper = (struct fatbin_wrapper){FATBIN_WRAPPER_MAGIC, 1, container.bytes, NULL};
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &spin, &spin, "spin", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &busy, &busy, "busy", -1, NULL, NULL, NULL, NULL, NULL);
    atexit(unregister);
}

static int launch(const void *kernel, unsigned ctas, uint32_t turns) {
    void *args[] = {&flag, &turns};
    return cudaLaunchKernel(kernel, (struct rt_dim3){ctas, 1, 1}, (struct rt_dim3){32, 1, 1}, args, 0, NULL);
}

static void *run_spin(void *unused) {
    (void)unused;
    launch(&spin, 1, 0);
    return NULL;
}

static void *run_busy(void *unused) {
    (void)unused;
    launch(&busy, 1, LONG);
    return NULL;
}

/* Starts a kernel in a thread and waits until it runs. */
static pthread_t start(void *(*run)(void *)) {
    pthread_t t;
    *flag = 0;
    if (pthread_create(&t, NULL, run, NULL) != 0)
        abort();
    while (*flag == 0)
        usleep(1000);
    return t;
}

/* In a scene: ends it where a check falls. */
static int step;
#define MUST(ok)                                                                                                       \
    ((void)(step++, (ok) || (dprintf(STDERR_FILENO, "%s:%d: %s\n", __FILE__, __LINE__, #ok), _exit(step), 0)))

/* Does the device do what it should? */
static bool works(void) {
    void *p;
    flag[0] = flag[3] = 0;
    return cudaMalloc(&p, 64) == 0 && cudaMemset(p, 1, 64) == 0 && cudaFree(p) == 0 && launch(&busy, 4, 10) == 0 &&
           cudaDeviceSynchronize() == 0 && flag[0] == 2 && flag[3] == 2;
}

/* --- a signal in a launch ----------------------------------------------------------------------------------------- */

static void at_signal(void (*handler)(int)) {
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 200000}}, NULL);
}

static void handler_exits(int number) {
    (void)number;
    exit(ALL_WELL);
}

static void signal_exit(void) {
    at_signal(handler_exits);
    launch(&spin, 4, 0);
}

static void handler_resets(int number) {
    (void)number;
    int n;
    void *p;
    uint64_t address;
    MUST(cudaDeviceReset() == RT_ERROR_NOT_PERMITTED);
    MUST(cudaGetLastError() == RT_ERROR_NOT_PERMITTED);
    MUST(cudaGetDeviceCount(&n) == RT_ERROR_NOT_PERMITTED);
    MUST(cudaMalloc(&p, 64) == RT_ERROR_NOT_PERMITTED);
    MUST(cuInit(0) == RT_ERROR_NOT_PERMITTED);
    MUST(cuMemAlloc_v2(&address, 64) == RT_ERROR_NOT_PERMITTED);
    MUST(launch(&busy, 1, 1) == RT_ERROR_NOT_PERMITTED);
    exit(ALL_WELL);
}

static void signal_calls(void) {
    at_signal(handler_resets);
    launch(&spin, 4, 0);
}

static volatile int answered;

static void handler_allocates(int number) {
    (void)number;
    void *p;
    answered = cudaMalloc(&p, 64);
}

/* The launch that was interrupted goes on, and the device is as it was. */
static void signal_returns(void) {
    at_signal(handler_allocates);
    while (!answered) {
        *flag = 0;
        MUST(launch(&busy, 2, LONG / 3) == 0 && *flag == 2);
    }
    MUST(answered == RT_ERROR_NOT_PERMITTED);
    MUST(works());
    exit(ALL_WELL);
}

/* --- the end beside a kernel -------------------------------------------------------------------------------------- */

static void main_returns(void) {
    start(run_spin);
    exit(ALL_WELL);
}

static void last_calls(void) {
    void *p;
    if (cudaMalloc(&p, 64) != RT_ERROR_UNLOADING)
        _exit(1);
}

/* An exit handler that calls CUDA beside a kernel, and one beside none. */
static void exit_handler_calls(void) {
    atexit(last_calls);
    register_program();
    works();
    start(run_spin);
    exit(ALL_WELL);
}

static void last_works(void) {
    if (!works())
        _exit(1);
}

static void exit_handler_works(void) {
    atexit(last_works);
    exit(ALL_WELL);
}

/* What dlclose does: waits for the kernel, and forgets. */
static void unload_waits(void) {
    pthread_t t = start(run_busy);
    __cudaUnregisterFatBinary(handle);
    MUST(*flag == 2);
    pthread_join(t, NULL);
    MUST(launch(&busy, 1, 1) == RT_ERROR_INVALID_HANDLE);
    register_program();
    MUST(works());
    exit(ALL_WELL);
}

static void cancelled(void) {
    pthread_t t = start(run_busy);
    pthread_cancel(t);
    pthread_join(t, NULL);
    MUST(works());
    exit(ALL_WELL);
}

/* --- host functions ----------------------------------------------------------------------------------------------- */

static void host_function(void *data) {
    void *p;
    uint64_t address;
    MUST(cudaMalloc(&p, 64) == RT_ERROR_NOT_PERMITTED);
    MUST(cuMemAlloc_v2(&address, 64) == RT_ERROR_NOT_PERMITTED);
    MUST(cudaLaunchHostFunc(NULL, host_function, NULL) == RT_ERROR_NOT_PERMITTED);
    ++*(int *)data;
}

static void callback(void *stream, int status, void *data) {
    MUST(stream == NULL && status == 0);
    host_function(data);
}

static void host_functions(void) {
    int ran = 0;
    MUST(cudaLaunchHostFunc(NULL, host_function, &ran) == 0 && ran == 1);
    MUST(cudaStreamAddCallback(NULL, callback, &ran, 0) == 0 && ran == 2);
    MUST(cuLaunchHostFunc(NULL, host_function, &ran) == 0 && ran == 3);
    MUST(works());
    exit(ALL_WELL);
}

static void leaves(void *data) {
    (void)data;
    exit(ALL_WELL);
}

static void host_function_exits(void) { cudaLaunchHostFunc(NULL, leaves, NULL); }

/* --- children ----------------------------------------------------------------------------------------------------- */

static int status_of(pid_t child) {
    int status = -1;
    MUST(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A call fails at once, and exit handlers have nothing to wait for. */
static void fork_beside_kernel(void) {
    start(run_spin);
    pid_t child = fork();
    if (child == 0) {
        void *p;
        MUST(cudaMalloc(&p, 64) == RT_ERROR_NOT_INITIALIZED);
        MUST(cuInit(0) == RT_ERROR_NOT_INITIALIZED);
        MUST(cudaDeviceReset() == RT_ERROR_NOT_INITIALIZED);
        exit(3);
    }
    MUST(status_of(child) == 3);
    child = fork();
    if (child == 0)
        execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
    MUST(status_of(child) == 4);
    MUST(system("exit 5") == 5 << 8);
    exit(ALL_WELL);
}

/* The child has a device of its own; so it has after the parent's threads have worked. */
static void fork_between(void) {
    MUST(works());
    pid_t child = fork();
    if (child == 0) {
        MUST(works());
        exit(3);
    }
    MUST(status_of(child) == 3);
    child = fork();
    if (child == 0) {
        MUST(cudaDeviceReset() == 0);
        MUST(cudaMallocManaged((void **)(uintptr_t)&flag, 64, 1) == 0);
        MUST(works());
        exit(4);
    }
    MUST(status_of(child) == 4);
    MUST(works());
    exit(ALL_WELL);
}

static void fork_handler(int number) {
    (void)number;
    pid_t child = fork();
    if (child == 0) {
        void *p;
        MUST(cudaMalloc(&p, 64) == RT_ERROR_NOT_INITIALIZED);
        exit(3);
    }
    MUST(status_of(child) == 3);
    exit(ALL_WELL);
}

static void fork_in_handler(void) {
    at_signal(fork_handler);
    launch(&spin, 1, 0);
}

/* A handler of pthread_atfork that is older than CUDA's: it runs between that one's two halves. */
static void (*preparing)(void);

static void prepare(void) {
    if (preparing)
        preparing();
}

static void allocate(void) { handler_allocates(0); }

static void call_in_fork(void) {
    preparing = allocate;
    pid_t child = fork();
    if (child == 0) {
        MUST(works());
        exit(3);
    }
    MUST(answered == RT_ERROR_NOT_PERMITTED);
    MUST(status_of(child) == 3);
    MUST(works());
    exit(ALL_WELL);
}

/* --- scenes ------------------------------------------------------------------------------------------------------- */

/* The last exit handler, before a sanitizer looks for leaks: a child has lost what threads of its parent held. */
static void leave(int status, void *unused) {
    (void)unused;
    _exit(status);
}

static void scene(const char *name, void (*play)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        on_exit(leave, NULL);
        register_program();
        if (cudaMallocManaged((void **)(uintptr_t)&flag, 64, 1) != 0)
            _exit(1);
        play();
        _exit(0);
    }
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < LIMIT * 100 && (ended = waitpid(child, &status, WNOHANG)) == 0; i++)
        usleep(10000);
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    if (!CHECK(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == ALL_WELL))
        printf("%s: %s, status 0x%x\n", name, ended == 0 ? "hangs" : "fails", (unsigned)status);
}

int main(void) {
    setenv("SM100EMU_THREADS", "2", 1);
    pthread_atfork(prepare, NULL, NULL);
    const struct {
        const char *name;
        void (*play)(void);
        bool forks; /* what ThreadSanitizer's runtime and qemu-user cannot follow beside other threads */
    } scenes[] = {
        {"signal_exit", signal_exit, false},
        {"signal_calls", signal_calls, false},
        {"signal_returns", signal_returns, false},
        {"main_returns", main_returns, false},
        {"exit_handler_calls", exit_handler_calls, false},
        {"exit_handler_works", exit_handler_works, false},
        {"unload_waits", unload_waits, false},
        {"cancelled", cancelled, false},
        {"host_functions", host_functions, false},
        {"host_function_exits", host_function_exits, false},
        {"fork_beside_kernel", fork_beside_kernel, true},
        {"fork_between", fork_between, true},
        {"fork_in_handler", fork_in_handler, true},
        {"call_in_fork", call_in_fork, true},
    };
    const char *under = getenv("UNDER"); /* the emulator of the host, if any: tests/CMakeLists.txt */
    bool forks = !under || !*under;
#if defined(__SANITIZE_THREAD__)
    forks = false;
#endif
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        if (forks || !scenes[i].forks)
            scene(scenes[i].name, scenes[i].play);
    return check_report();
}
