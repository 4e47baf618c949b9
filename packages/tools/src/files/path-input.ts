import { type Field, string } from "../schema/fields.ts";

export const filePath: Field<string> = string({
  description: "Path of the file, absolute or relative to the working directory.",
  minLength: 1,
  maxLength: 4096,
});

export function placeField(description: string): Field<string> {
  return string({ description, minLength: 1, maxLength: 4096 });
}

/** Refuses what no file system allows in a path. */
export function pathFault(path: string, field = "file_path"): string | undefined {
  return path.includes("\0") ? `params/${field} must not contain a NUL character` : undefined;
}
