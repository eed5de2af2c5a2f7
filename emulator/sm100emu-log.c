/* sm100emu-log - shows the logs that sm100emu --trace=FILE writes.
 *
 *   sm100emu-log [OPTIONS] LOG
 *
 * Exit status: 0, 1 where the log cannot be read or the output not be written, 2 for wrong use.
 */
#include "trace/file.h"
#include "view/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = 1, WRONG_USE = 2 };

static const char help_text[] =
    "usage: sm100emu-log [OPTIONS] LOG\n"
    "Shows a log that sm100emu --trace=LOG PROGRAM has written.\n"
    "\n"
    "  --json          all of it as JSON, on stdout: emulator/view/json.h says what is what\n"
    "  --version       version of the emulator\n"
    "  --help          this text\n";

__attribute__((format(printf, 2, 3))) static _Noreturn void stop(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("sm100emu-log: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

int main(int argc, char **argv) {
    struct trace_log **logs;
    const char *path = NULL;
    char why[512];
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help_text, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            puts("sm100emu-log " VERSION);
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (argv[i][0] == '-' && argv[i][1])
            stop(WRONG_USE, "%s is no option; --help lists them", argv[i]);
        else if (path)
            stop(WRONG_USE, "one log at a time: %s and %s", path, argv[i]);
        else
            path = argv[i];
    }
    if (!path)
        stop(WRONG_USE, "no log given; --help says how");
    if (!json)
        stop(WRONG_USE, "say what to show: --json; --help lists what there is");
    const uint32_t count = trace_read(path, &logs, why, sizeof why);
    if (!count)
        stop(FAILED, "%s", why);
    if (!view_json(stdout, logs, count))
        stop(FAILED, "stdout takes no more: %s", strerror(errno));
    for (uint32_t i = 0; i < count; i++)
        trace_free(logs[i]);
    free(logs);
    return 0;
}
