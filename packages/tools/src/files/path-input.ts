import { type Field, string } from "../schema/fields.ts";

/** The field by which file tools name a file. */
export const filePath: Field<string> = string({
  description: "Path of the file, absolute or relative to the working directory.",
  minLength: 1,
  maxLength: 4096,
});

/** A field that names a place to look at. */
export function placeField(description: string): Field<string> {
  return string({ description, minLength: 1, maxLength: 4096 });
}

/** What no path can hold, whatever the file system. */
export function pathFault(path: string, field = "file_path"): string | undefined {
  return path.includes("\0") ? `params/${field} must not contain a NUL character` : undefined;
}
