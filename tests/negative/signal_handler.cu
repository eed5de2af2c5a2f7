// A signal handler that calls CUDA, and exit(), while a launch runs on its thread: what Ctrl-C does to programs that
// mean to clean up.
// On the chip: undefined, since no CUDA call is safe in a signal handler; most often it works.
// Rule: the call is refused instead of waiting for the launch for ever, and exit() ends the process at once.
//
// EXPECT: ^sm100emu: cudaDeviceReset: cudaLaunchKernel.* still runs on this thread: a host function or a signal handler may not call CUDA$
// EXPECT: ^cudaDeviceReset: cudaErrorNotPermitted$
// EXIT: 3
#include <csignal>
#include <sys/time.h>

#include "../../common/cuda_check.h"

__global__ void signal_handler() {
    for (;;)
        __nanosleep(1000);
}

static void on_signal(int) {
    printf("cudaDeviceReset: %s\n", cudaGetErrorName(cudaDeviceReset()));
    exit(3);
}

int main(void) {
    signal(SIGALRM, on_signal);
    const itimerval soon = {{0, 0}, {0, 100000}}; // 0.1 s
    setitimer(ITIMER_REAL, &soon, NULL);
    signal_handler<<<8, 32>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
