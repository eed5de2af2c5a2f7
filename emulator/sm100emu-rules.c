/* sm100emu-rules - prints every diagnostic of the emulator as JSON (report/rules.h), for `make rules` and its test. */
#include "report/rules.h"

int main(void) {
    rules_print(stdout);
    return ferror(stdout) || fflush(stdout);
}
