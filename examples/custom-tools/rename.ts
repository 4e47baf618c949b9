// Renames many files of a folder at once. What would happen is shown first, and the runtime makes it happen: all of it or nothing, with an undo.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CustomToolFactory } from "@assent/tools";

type Names = { readonly folder: string; readonly find: string; readonly replace: string };

// A module gives a factory. It is called once per session, and returns one tool or a list of them.
const rename: CustomToolFactory = ({ zod, logger }) => ({
  name: "rename_files",
  label: "Rename files",
  description: "Renames every file of one folder whose name contains a text. Folders below it are left alone.",

  // A tool that changes things says so: this kind waits for its turn, and is denied in plan mode.
  kind: "move",

  // The model sees this as JSON Schema; what it sends is checked before anything below is called.
  parameters: zod.object({
    folder: zod.string().describe("The folder, from the working directory."),
    find: zod.string().min(1).describe("The text to look for in names, literally."),
    replace: zod.string().describe("What stands in its place."),
  }),

  // The tool's own opinion. "ask" leaves it to rules, modes and people; "deny" holds whatever they say.
  permission: ({ replace }: Names) => (/[/\\\0]/.test(replace) ? "deny" : "ask"),

  // Says what would change, and changes nothing. A result in place of a preview ends the call.
  preview({ folder, find, replace }: Names, { cwd }) {
    const entries = readdirSync(resolve(cwd, folder), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name.includes(find)).map(({ name }) => name);
    logger.debug("%d of %d names contain %s", names.length, entries.length, find);
    if (names.length === 0) return { content: [{ type: "text", text: `No name in ${folder} contains ${find}.` }] };
    const renamed = (name: string): string => name.replaceAll(find, () => replace);
    const changes = names.sort().map((name) => ({ path: join(folder, name), to: join(folder, renamed(name)) }));
    return { label: `Rename ${names.length} files in ${folder}`, changes, data: names.length };
  },

  // The files have their new names by now, maybe days later and in another process: `data` is what the preview kept.
  apply: ({ data, label }) => ({ content: [{ type: "text", text: `Done: ${label}.` }], details: { renamed: data } }),
});

export default rename;
