/* Which CuTe DSL is loaded; contract in version.h. */
#include "cudart/cutedsl/version.h"

#include <dirent.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define PACKAGE "nvidia_cutlass_dsl"
#define SUFFIX ".dist-info"

static const char *const versions[] = {
#define DSL(number, name) name,
#include "cudart/cutedsl/versions.def"
};

bool cutedsl_known(const char *version) {
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(versions[i], version) == 0)
            return true;
    return false;
}

const char *cutedsl_versions(void) {
    static const char names[] = ""
#define DSL(number, name) ", " name
#include "cudart/cutedsl/versions.def"
        ;
    return &names[2];
}

/* An object of the package: the folder that holds the package, as the loader names it. */
static int find_folder(struct dl_phdr_info *info, size_t size, void *data) {
    char *const folder = data;
    const char *const at = strstr(info->dlpi_name, "/" PACKAGE "/");
    (void)size;
    if (at == NULL || at - info->dlpi_name >= PATH_MAX)
        return 0;
    memcpy(folder, info->dlpi_name, (size_t)(at - info->dlpi_name));
    folder[at - info->dlpi_name] = 0;
    return 1;
}

/* The version in the name of a folder that pip made; false for another name. */
static bool read_version(const char *name, char *out, size_t size) {
    const size_t head = strlen(PACKAGE "-"), all = strlen(name), tail = strlen(SUFFIX);
    if (strncmp(name, PACKAGE "-", head) != 0 || all <= head + tail || strcmp(name + all - tail, SUFFIX) != 0)
        return false;
    return snprintf(out, size, "%.*s", (int)(all - head - tail), name + head) < (int)size;
}

bool cutedsl_version(char *out, size_t size) {
    char folder[PATH_MAX] = "";
    bool found = false;
    DIR *d = dl_iterate_phdr(find_folder, folder) != 0 ? opendir(*folder ? folder : "/") : NULL;
    for (struct dirent *e; d != NULL && !found && (e = readdir(d)) != NULL;)
        found = read_version(e->d_name, out, size);
    if (d != NULL)
        closedir(d);
    return found;
}
