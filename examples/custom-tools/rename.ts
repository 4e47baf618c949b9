// Renames many files of a folder at once. The runtime shows the changes first, then applies all or none of them, with an undo.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CustomToolFactory } from "@assent/tools";

type Names = { readonly folder: string; readonly find: string; readonly replace: string };

// A module exports a factory. It is called once per session and returns one tool or a list of tools.
const rename: CustomToolFactory = ({ zod, logger }) => ({
  name: "rename_files",
  label: "Rename files",
  description: "Renames every file of one folder whose name contains a text. Folders below it are left alone.",

  // This kind says that the tool changes something: calls run one at a time, and plan mode denies them.
  kind: "move",

  // The model sees this as JSON Schema; what it sends is checked before anything below is called.
  parameters: zod.object({
    folder: zod.string().describe("The folder, from the working directory."),
    find: zod.string().min(1).describe("The text to look for in names, literally."),
    replace: zod.string().describe("The replacement."),
  }),

  // The tool's own opinion. "ask" leaves it to rules, modes and people; "deny" always counts.
  permission: ({ replace }: Names) => (/[/\\\0]/.test(replace) ? "deny" : "ask"),

  // Returns what would change, and changes nothing. Returning a result instead of a preview ends the call.
  preview({ folder, find, replace }: Names, { cwd }) {
    const entries = readdirSync(resolve(cwd, folder), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name.includes(find)).map(({ name }) => name);
    logger.debug("%d of %d names contain %s", names.length, entries.length, find);
    if (names.length === 0) return { content: [{ type: "text", text: `No name in ${folder} contains ${find}.` }] };
    const renamed = (name: string): string => name.replaceAll(find, () => replace);
    const changes = names.sort().map((name) => ({ path: join(folder, name), to: join(folder, renamed(name)) }));
    return { label: `Rename ${names.length} files in ${folder}`, changes, data: names.length };
  },

  // Runs after the files are renamed, possibly days later in another process. `data` comes from the preview.
  apply: ({ data, label }) => ({ content: [{ type: "text", text: `Done: ${label}.` }], details: { renamed: data } }),
});

export default rename;
