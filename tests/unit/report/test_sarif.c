/* The file of --check-json: what stands where, that any byte is escaped, and that nothing is left of a file that cannot
 * be written. tests/tools/findings.sh reads what programs write. */
#include "report/sarif.h"

#include "report/suppress.h"

#include "check.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_sarif.XXXXXX", path[64], text[16384], why[512];

static const char *written(const struct findings *f) {
    text[0] = 0;
    if (!CHECK(sarif_write(f, path, 0, why, sizeof why)))
        return text;
    FILE *file = fopen(path, "r");
    if (CHECK(file != NULL)) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    return text;
}

static struct finding *add(struct findings *f, const struct diag *d, const char *message) {
    struct finding *x = findings_add(f, diag_key(d), d, message);
    x->count = 1;
    return x;
}

static void empty_run(void) {
    struct findings f = {.launches = 3};
    const char *log = written(&f);
    CHECK_HAS(log, "\"version\": \"2.1.0\"");
    CHECK_HAS(log, "\"rules\": []");
    CHECK_HAS(log, "\"results\": []");
    CHECK_HAS(log, "\"launches\": 3");
}

static void results(void) {
    struct findings f = {0};
    struct diag_inline call = {.file = "main.cu", .line = 40, .column = 5};
    struct diag_site s = {.src_file = "tma.cuh", .src_line = 12, .inlined = &call, .func = "_Z4gemmPf"};
    struct diag_site t = {.ptx_name = "k.ptx", .ptx_line = 7, .ptx_text = "st;", .func = "k"};
    struct diag_thread thread = {.cta = {1, 0, 0}, .cluster_size = 1, .warp = 2};
    struct diag_party other = {"a store", &t, &thread};
    struct diag d = {.id = "race", .section = "PTX ISA 8", .class = DIAG_WARNING, .site = &s, .other = &other};
    add(&f, &d, "two accesses")->count = 38;
    add(&f, &(struct diag){.id = "deadlock", .class = DIAG_ERROR}, "it hangs");
    add(&f, &(struct diag){.id = "fence", .class = DIAG_STRICT, .site = &t, .thread = &thread}, "no fence");
    add(&f, &(struct diag){.id = "hidden", .class = DIAG_STRICT, .site = &s}, "x")->state = FINDING_BELOW;
    add(&f, &(struct diag){.id = "race", .class = DIAG_WARNING, .site = &t}, "once more");
    const char *log = written(&f);
    CHECK_HAS(log,
              "\"ruleId\": \"race\", \"ruleIndex\": 0, \"level\": \"warning\",\n     \"message\": {\"text\": \"two ac");
    CHECK_HAS(log, "\"ruleId\": \"deadlock\", \"ruleIndex\": 1, \"level\": \"error\",");
    CHECK_HAS(log, "\"ruleId\": \"fence\", \"ruleIndex\": 2, \"level\": \"note\",");
    CHECK_HAS(log,
              "\"ruleId\": \"race\", \"ruleIndex\": 0, \"level\": \"warning\",\n     \"message\": {\"text\": \"once m");
    CHECK(!strstr(log, "hidden"));
    CHECK_HAS(log, "\"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"tma.cuh\"}, \"region\": "
                   "{\"startLine\": 12}}, \"logicalLocations\": [{\"kind\": \"function\", \"fullyQualifiedName\": "
                   "\"gemm\", \"decoratedName\": \"_Z4gemmPf\"}]}]");
    CHECK_HAS(log, "\"relatedLocations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"k.ptx\"}, "
                   "\"region\": {\"startLine\": 7}}");
    CHECK_HAS(log, "\"message\": {\"text\": \"a store\"}}]");
    CHECK_HAS(log, "{\"location\": {\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"main.cu\"}, \"region\": "
                   "{\"startLine\": 40, \"startColumn\": 5}}}}]}]");
    CHECK_HAS(log, "\"occurrenceCount\": 38");
    CHECK_HAS(log, "\"ptxFile\": \"k.ptx\", \"ptxLine\": 7, \"ptx\": \"st;\"");
    CHECK_HAS(log, "\"otherThread\": \"CTA (1,0,0) warp 2\"");
    findings_clear(&f);
}

/* What a kernel's PTX and a file's name may bring. */
static void any_byte(void) {
    struct findings f = {0};
    struct diag_site s = {.src_file = "/a b/100%/\xff\"?.cu", .src_line = 1, .func = "k"};
    add(&f, &(struct diag){.id = "i", .site = &s},
        "\"\\\n\x01\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 | \xff \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82");
    const char *log = written(&f);
    CHECK_HAS(log, "\"text\": \"\\\"\\\\\\u000a\\u0001\\u007f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 | \\ufffd "
                   "\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\"");
    CHECK_HAS(log, "\"uri\": \"file:///a%20b/100%25/%FF%22%3F.cu\"");
    findings_clear(&f);
}

static void suppressed(void) {
    struct suppression line = {.at = 4, .rule = "race"};
    const struct suppressions list = {.path = "why.txt", .first = &line};
    struct findings f = {.suppressions = &list};
    struct finding *x = add(&f, &(struct diag){.id = "race", .class = DIAG_WARNING}, "m");
    x->state = FINDING_SUPPRESSED;
    x->suppression = &line;
    const char *log = written(&f);
    CHECK_HAS(log, "\"suppressions\": [{\"kind\": \"external\", \"location\": {\"physicalLocation\": "
                   "{\"artifactLocation\": {\"uri\": \"why.txt\"}, \"region\": {\"startLine\": 4}}}}]");
    CHECK_HAS(log, "\"reported\": false");
    findings_clear(&f);
}

static unsigned files_in_folder(void) {
    unsigned n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

static void the_file(void) {
    const struct findings f = {0};
    char name[128], expected[128];
    snprintf(name, sizeof name, "%s/%%p.%%x.json", folder);
    snprintf(expected, sizeof expected, "%s/%ld.%%x.json", folder, (long)getpid());
    CHECK(sarif_write(&f, name, 0, why, sizeof why));
    CHECK_EQ(access(expected, R_OK), 0);
    CHECK_EQ(files_in_folder(), 2); /* and that of the other tests: nothing beside them */
    unlink(expected);
    snprintf(name, sizeof name, "%s/none/a.json", folder);
    CHECK(!sarif_write(&f, name, 0, why, sizeof why));
    CHECK_HAS(why, "/none/a.json: No such file");
    CHECK(!sarif_write(&f, folder, 0, why, sizeof why));
    CHECK_HAS(why, "no regular file");
    CHECK(!sarif_write(&f, "/dev/null", 0, why, sizeof why));
    CHECK_EQ(files_in_folder(), 1);
}

int main(void) {
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_report();
    snprintf(path, sizeof path, "%s/log.json", folder);
    empty_run();
    results();
    any_byte();
    suppressed();
    the_file();
    unlink(path);
    rmdir(folder);
    return check_report();
}
