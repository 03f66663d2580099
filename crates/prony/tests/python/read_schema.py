"""Validates stored files against the JSON Schemas of prony, and prints what was found as one JSON document.

Arguments: the directory of the schemas, then pairs: the name of a schema, and a file. Each line of a file of JSON lines
(`.ndjson`) is a document. The output has for each schema its properties without a description; for each faulty document its
errors; and for each schema the places in its documents where an unknown property was tried, with those that accepted it.
Nothing is judged here.
"""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator, RefResolver
from jsonschema.exceptions import best_match

SUFFIX = ".schema.json"
# No schema has a property of this name, and no map has values of this type.
UNKNOWN = ("of_no_schema", [[]])


def schemas(directory):
    """The schemas by their file names. A schema that is none is an error."""
    found = {path.name: json.loads(path.read_text()) for path in Path(directory).glob("*" + SUFFIX)}
    for schema in found.values():
        Draft202012Validator.check_schema(schema)
    return found


def validators(found):
    def validator(name):
        resolver = RefResolver(name, found[name], store=found)
        return Draft202012Validator(found[name], resolver=resolver)

    return {name.removesuffix(SUFFIX): validator(name) for name in found}


def undescribed(schema, place=""):
    """Places of definitions and of properties without a description. Conditions only narrow what is described elsewhere."""
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from undescribed(part, f"{place}/{index}")
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key in ("properties", "$defs"):
                for name, described in part.items():
                    if "description" not in described:
                        yield f"{place}/{key}/{name}"
                    yield from undescribed(described, f"{place}/{key}/{name}")
            elif key not in ("if", "then", "dependentSchemas"):
                yield from undescribed(part, f"{place}/{key}")


def documents(path):
    """The documents of a file. Of lines with the same names and types, one: a trial has thousands of them."""
    text = Path(path).read_text()
    if not path.endswith(".ndjson"):
        return [json.loads(text)]
    lines = map(json.loads, text.splitlines())
    return list({shape(line): line for line in lines}.values())


def shape(value):
    """Names and types of a document as a text."""
    if isinstance(value, dict):
        return "{" + ",".join(name + shape(part) for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({shape(part) for part in value})) + "]"
    return type(value).__name__[0]


def errors(validator, document):
    """Each error at the place where a document comes nearest to its schema."""
    for error in validator.iter_errors(document):
        nearest = best_match([error])
        yield "/".join(map(str, nearest.absolute_path)) + ": " + nearest.message[:300]


def short(value):
    """The same with one item of each list of objects: all items follow one schema."""
    if isinstance(value, dict):
        return {name: short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [short(part) for part in (value[:1] if value and isinstance(value[0], dict) else value)]
    return value


def objects(value, place=""):
    if isinstance(value, dict):
        yield place, value
        for name, part in value.items():
            yield from objects(part, f"{place}/{name}")
    elif isinstance(value, list):
        for part in value:
            yield from objects(part, f"{place}/*")


def probe(validator, document, tried, accepted):
    """Adds an unknown property to each object of a document, one at a time."""
    document = short(document)
    name, value = UNKNOWN
    for place, of in list(objects(document)):
        if place in tried:
            continue
        tried.add(place)
        of[name] = value
        if validator.is_valid(document):
            accepted.append(place)
        del of[name]


def main(directory, *pairs):
    found = schemas(directory)
    by_name = validators(found)
    read = {name: {"documents": 0, "tried": set(), "accepted": []} for name in by_name}
    faulty = []
    for name, path in zip(pairs[::2], pairs[1::2]):
        validator, of = by_name[name], read[name]
        for number, document in enumerate(documents(path), 1):
            of["documents"] += 1
            of_document = list(errors(validator, document))
            if of_document:
                faulty.append({"file": path, "document": number, "errors": of_document})
            else:
                probe(validator, document, of["tried"], of["accepted"])
    for name, of in read.items():
        of["tried"] = len(of["tried"])
        of["undescribed"] = list(undescribed(found[name + SUFFIX]))
    json.dump({"schemas": read, "faulty": faulty}, sys.stdout)


main(*sys.argv[1:])
