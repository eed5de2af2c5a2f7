/* Which CuTe DSL the process has loaded.
 *
 * Contract. The DSL does not tell its runtime library its version. Its compiler is a shared library in the folder
 * nvidia_cutlass_dsl of a Python environment, and pip keeps the version in the name of a folder beside that one,
 * nvidia_cutlass_dsl-VERSION.dist-info. Reads names of loaded objects and of one folder's entries; keeps nothing.
 */
#ifndef CUDART_CUTEDSL_VERSION_H
#define CUDART_CUTEDSL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* The version by its name, "4.8.1"; false where no object of the DSL is loaded, or its version is not to be found. */
bool cutedsl_version(char *out, size_t size);
/* Whether programs of that version run here (versions.def). */
bool cutedsl_known(const char *version);
/* All of them: "4.8.0, 4.8.1". */
const char *cutedsl_versions(void);

#endif
