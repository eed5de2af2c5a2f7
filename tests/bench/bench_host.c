/* bench_host.c - wall-clock time and memory of whole programs, and of OpenBLAS on all cores, for bench_emulator.py.
 *
 *     bench_host sgemm N             SECONDS THREADS CORE of one N x N x N sgemm, the second of two
 *     bench_host run PROGRAM ARGS    what it prints, then SECONDS MIB: how long it took and the most memory it held at
 *                                    a time; ends as PROGRAM does
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blas.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int sgemm(int n) {
    struct blas x;
    int threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1 || !blas_open(&x, n, threads)) {
        fprintf(stderr, "bench_host: no OpenBLAS here\n");
        return 1;
    }
    blas_run(&x); /* the threads are started, the pages are there */
    double t = now();
    blas_run(&x);
    t = now() - t;
    printf("%.6f %d %s\n", t, threads, x.core);
    blas_close(&x);
    return 0;
}

static int run(char **argv) {
    struct rusage used;
    int status;
    double t = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv);
        fprintf(stderr, "bench_host: %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        fprintf(stderr, "bench_host: %s: %s\n", argv[0], strerror(errno));
        return 1;
    }
    printf("%.3f %.1f\n", now() - t, (double)used.ru_maxrss / 1024); /* ru_maxrss is in KiB on Linux */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "sgemm") == 0)
        return sgemm(atoi(argv[2]));
    if (argc >= 3 && strcmp(argv[1], "run") == 0)
        return run(argv + 2);
    fprintf(stderr, "usage: bench_host sgemm N | bench_host run PROGRAM [ARGS]\n");
    return 2;
}
