/* base/json.h - strings in JSON (RFC 8259). */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdio.h>

/* Writes `text` as a JSON string, NULL as an empty one; U+FFFD for bytes that are no UTF-8. */
void json_string(FILE *f, const char *text);

#endif
