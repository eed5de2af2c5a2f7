"""schema.py - says where a value is not what a JSON Schema allows; of the words of draft 2020-12 those that
course/schemas/ uses. A word that is not known here is an error, so that no schema asks for what is not looked at."""

TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool}
SAID = {"$schema", "title", "description"}


def wrong(schema, value, at="$"):
    """A list of sentences, empty where all is well."""
    unknown = set(schema) - SAID - {"type", "enum", "required", "properties", "additionalProperties", "items",
                                    "minItems", "minimum"}
    if unknown:
        raise ValueError(f"{at}: the schema says {', '.join(sorted(unknown))}, which is not looked at")
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is none of {schema['enum']}")
    kind = TYPES.get(schema.get("type", ""))
    if kind and (not isinstance(value, kind) or isinstance(value, bool) and kind is not bool):
        return [*found, f"{at}: {value!r} is no {schema['type']}"]
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{at}: {value} is less than {schema['minimum']}")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{at}: too few")
        for i, item in enumerate(value):
            found += wrong(schema.get("items", {}), item, f"{at}[{i}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{at}: no {key}" for key in schema.get("required", []) if key not in value]
        if schema.get("additionalProperties") is False:
            found += [f"{at}: {key} is unknown" for key in value if key not in known]
        for key, item in value.items():
            found += wrong(known.get(key, {}), item, f"{at}.{key}")
    return found
