import { join, resolve } from "node:path";
import { isInside, resolvePath } from "../../paths/resolve.ts";
import { type FoundProgram, isAssentProgram, programAt } from "./find-program.ts";
import type { Command, Hazard } from "./plan.ts";
import type { OutsideShell, PlacedCommand, ReadCommand, ShellPlace } from "./read-commands.ts";

/**
 * Programs that only read regardless of their environment and settings. Others may start programs or show secrets that Assent keeps from
 * them: git by the repository's settings, `rg` and `less` by variables, `env` and `jq` by showing variables.
 */
const PLAIN_READERS: ReadonlySet<string> = new Set(
  (
    "[ basename cat cd cksum cmp column comm cut date df diff dirname du echo expand expr false find fold grep head hexdump id join ls md5sum nl od paste " +
    "printf pwd readlink realpath rev sed seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep sort stat strings tac tail test tr tree true tsort uname " +
    "unexpand uniq wc which whoami xxd"
  ).split(" "),
);

/** Withdraws the proof that a command only reads if the proof depends on how Assent would run it. */
export function withoutOwnProof<One extends ReadCommand>(read: One): One {
  const { command, classified } = read;
  const name = command.argv[0]?.text ?? "";
  const isPlain = PLAIN_READERS.has(name) && !(classified?.skips || classified?.covers || classified?.vets);
  if (command.class !== "read" || isPlain) return read;
  const hazard: Hazard = {
    id: "opaque_program",
    text: `${name} is known to only read if Assent itself runs it; here another agent's shell does`,
  };
  return { ...read, command: { ...command, class: "unknown", hazards: [...command.hazards, hazard] } };
}

/** Fields of an agent's call that change nothing about what the line does. */
const HARMLESS_FIELDS: readonly string[] = ["run_in_background", "is_background"];

/** What another shell may do with the line although Assent, running it from the plan, would not. */
export function outsideShellHazards(
  shell: OutsideShell,
  { plain, read }: { readonly plain: readonly PlacedCommand[] | undefined; readonly read: readonly ReadCommand[] },
  place: ShellPlace,
): readonly Hazard[] {
  const words = (plain ?? []).flatMap(({ command }) => command.words);
  const hazards: Hazard[] = words.flatMap(({ text, glob, raw }): readonly Hazard[] => {
    if (raw !== undefined) return [{ id: "expansion", text: `The agent's shell expands ${raw}, perhaps to something else` }];
    return glob ? [{ id: "brace_or_glob", text: `The agent's shell expands ${text}, perhaps to other files or to options` }] : [];
  });
  for (const { command } of read) hazards.push(...programHazards(command, shell, place));
  for (const [field, value] of Object.entries(shell.fields ?? {}))
    if (value !== false && value !== null && !HARMLESS_FIELDS.includes(field))
      hazards.push({ id: "other_shell", text: `The agent's call has the field ${field}, which may change how the line runs` });
  return hazards;
}

function programHazards({ argv: [first], cwd }: Command, { env }: OutsideShell, place: ShellPlace): readonly Hazard[] {
  if (!first || first.dynamic || first.text.includes("/")) return []; // has a hazard of its own, or a rule names the file
  const { text: name } = first;
  if (name === "cd") return env["CDPATH"] ? [{ id: "other_shell", text: "CDPATH is set, so cd may go to another directory" }] : [];
  const started = findStarted(name, { cwd: cwd ?? place.cwd, home: place.home }, env["PATH"] ?? "");
  if (started === undefined) return [{ id: "other_shell", text: `${name} is not on the agent's PATH` }];
  const { file, dev, ino } = started;
  const { real } = resolvePath(file, "/");
  if (real === null || isInside(place.workspace, file) || isInside(place.workspace, real))
    return [{ id: "other_shell", text: `The agent's shell would start ${file}, which is in the workspace` }];
  if (name !== "assent" && isAssentProgram(real)) return [{ id: "other_shell", text: `${name} is Assent under another name` }];
  const known = place.findProgram(name);
  if (known?.dev === dev && known.ino === ino) return [];
  const judged = known ? `, not ${known.file}` : "";
  return [
    {
      id: "other_shell",
      text: `The agent's shell would start ${file}${judged}. To allow it, add its directory to the setting shell.path`,
    },
  ];
}

/** The first program of that name, as a shell looks it up: an empty or relative entry is a directory below the current one. */
function findStarted(name: string, { cwd, home }: Pick<ShellPlace, "cwd" | "home">, path: string): FoundProgram | undefined {
  const directories = path.split(":").map((entry) => resolve(cwd, entry.replace(/^~(?=\/|$)/, home)));
  for (const directory of directories) {
    const found = programAt(join(directory, name));
    if (found) return found;
  }
  return undefined;
}
