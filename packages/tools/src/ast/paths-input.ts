import type { Field } from "../schema/fields.ts";

const MAX_PATHS = 100;
const MAX_CHARS = 4096;

/** The input field for files, directories and globs. */
export const pathsField: Field<readonly string[]> = {
  schema: {
    type: "array",
    description: "Files, directories or globs such as src/**/*.ts, absolute or relative to the working directory.",
    minItems: 1,
    maxItems: MAX_PATHS,
    items: { type: "string", minLength: 1, maxLength: MAX_CHARS },
  },
  optional: false,
  fault: (value) => {
    if (!Array.isArray(value)) return "must be array";
    if (value.length > MAX_PATHS) return `must NOT have more than ${MAX_PATHS} items`;
    const wrong = value.findIndex((path) => typeof path !== "string" || path.length > MAX_CHARS);
    if (wrong === -1) return undefined;
    return typeof value[wrong] === "string"
      ? `item ${wrong} must NOT have more than ${MAX_CHARS} characters`
      : `item ${wrong} must be string`;
  },
};

const URL_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Returns a problem with the paths that their types do not cover. */
export function pathsFault(paths: readonly string[]): string | undefined {
  if (paths.length === 0 || paths.some((path) => path.trim() === "")) return "paths must not be empty";
  for (const [index, path] of paths.entries()) {
    if (URL_SCHEME.test(path.trim())) return `paths[${index}] is a URL; give a file, directory or glob`;
    if (path.includes("\0")) return `paths[${index}] must not contain a NUL character`;
  }
  return undefined;
}
