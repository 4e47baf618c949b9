import { type Field, string } from "./fields.ts";

/** The field by which file tools name a file. */
export const filePath: Field<string> = string({
  description: "Path of the file, absolute or relative to the working directory.",
  minLength: 1,
  maxLength: 4096,
});

/** What no path can hold, whatever the file system. */
export function pathFault(path: string): string | undefined {
  if (path.includes("\0")) return "params/file_path must not contain a NUL character";
  return path.isWellFormed() ? undefined : "params/file_path must be well-formed Unicode";
}
