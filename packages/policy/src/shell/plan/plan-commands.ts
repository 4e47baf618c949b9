import type { PathLookup } from "../../paths/lookup.ts";
import { type ClassifiedCommand, classify } from "../effects/classify.ts";
import { skipSecrets, vetFoundFiles } from "../effects/skip-secrets.ts";
import type { Hazard } from "./plan.ts";
import type { PlannedCommand } from "./planned-line.ts";
import type { PlacedCommand, ReadCommand, ShellPlace } from "./read-commands.ts";

/** The commands as they run; undefined if one of them has no known directory. Recursive searches skip files with secrets, and `xargs` gets only files of its directory. */
export function planCommands(
  plain: readonly PlacedCommand[],
  read: readonly ReadCommand[],
  { place, look }: { readonly place: ShellPlace; readonly look: PathLookup },
): readonly PlannedCommand[] | undefined {
  let mayChange = false;
  const planned = plain.map((placed, i) => {
    const { classified, command: judged } = read.find(({ seen }) => seen.top === i) ?? {};
    const recheck = mayChange && classified ? recheckCommand(placed, classified, { ...place, look }) : undefined;
    mayChange ||= classified?.class !== "read";
    const [name, ...args] = classified?.class === "read" ? hardenWords(placed.argv) : placed.argv;
    if (name === undefined || placed.cwd === null) return undefined;
    const { command, cwd } = placed;
    const { skips, vets, gitData } = classified ?? {};
    const described = !judged?.hazards.some(({ id }) => id === "runs_hooks" || id === "opaque_program");
    const secretNames = place.secretNames?.() ?? [];
    const argv = skips ? skipSecrets(skips, [name, ...args], secretNames) : ([name, ...args] as const);
    const stages = [
      ...(command.input === undefined ? [] : [["cat", command.input] as const]),
      ...(vets ? [...vetFoundFiles(argv, cwd, secretNames), withNulls(argv)] : [argv]),
    ];
    return stages.map((words, at): PlannedCommand => {
      const redirections = at === stages.length - 1 ? command.redirections : [];
      const program = words[0] === "cd" ? undefined : place.findProgram(words[0]);
      const planned = { join: at === 0 ? command.join : "|", argv: words, cwd, redirections, described, program } as const;
      return { ...planned, ...(gitData && { gitData }), ...(recheck && at === 0 && { recheck }) };
    });
  });
  return planned.every((stages) => stages !== undefined) ? planned.flat() : undefined;
}

/** Judges the command once more when it is about to start: `git checkout x && cat link` must not follow a link that came with the checkout. */
function recheckCommand(placed: PlacedCommand, judged: ClassifiedCommand, place: ShellPlace): () => string | undefined {
  const cwd = placed.cwd ?? place.cwd;
  const isKnown = ({ id, text }: Hazard): boolean => judged.hazards.some((known) => known.id === id && known.text === text);
  return () => {
    if (!place.look(".", cwd).inside && cwd !== place.workspace) return `${cwd} is outside the workspace now`;
    const now = classify(placed.argv, { ...place, cwd }, placed);
    return now.hazards.find((hazard) => !isKnown(hazard))?.text ?? (now.class === judged.class ? undefined : "it does something else now");
  };
}

/** A command that only reads, in the words that keep it from more. */
function hardenWords(argv: readonly string[]): readonly string[] {
  const [name = "", first = "", ...rest] = argv;
  switch (name) {
    case "command":
    case "type":
      return ["which", ...argv.slice(1).filter((word) => word !== "-v" && word !== "-p")];
    case "history":
    case "jobs":
      return ["true"]; // a new shell has neither
    case "egrep":
      return ["grep", "-E", ...argv.slice(1)]; // the other names are scripts
    case "fgrep":
      return ["grep", "-F", ...argv.slice(1)];
    case "npm":
      return [name, first, ...QUIET_NPM, ...rest];
    case "java":
      return [name, "-XX:-UsePerfData", ...argv.slice(1)]; // else it writes to the temporary directory
    case "javac":
      return [name, "-J-XX:-UsePerfData", ...argv.slice(1)];
    case "kubectl":
      return [name, "--cache-dir=/dev/null", ...argv.slice(1)];
    default:
      return argv;
  }
}

/**
 * Keeps npm from contacting a registry and from writing, deleting or rotating files, regardless of `.npmrc`. `/dev/null` makes cache
 * and logs impossible; `--logs-max=0` alone would delete the user's logs.
 */
const QUIET_NPM = [
  "--cache=/dev/null",
  "--logs-dir=/dev/null",
  "--logs-max=0",
  "--no-timing",
  "--no-update-notifier",
  "--offline",
  "--no-global",
];

function withNulls([name, ...args]: PlannedCommand["argv"]): PlannedCommand["argv"] {
  return [name, "-0", "-r", ...args];
}
