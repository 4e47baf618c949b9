import { basename, dirname, resolve } from "node:path";
import type { Entry, Processes, Program, Step, StepsEnd, ToolResult } from "@assent/core";
import { hardenGit, scrubEnvironment } from "@assent/host";
import {
  isInside,
  type PlannedCommand,
  type PlannedLine,
  PROGRAM_PATH,
  programDirectories,
  readPlannedLine,
  resolvePath,
  sameProgram,
} from "@assent/policy";
import { failure } from "../failure.ts";

/** Where a judged line runs, and what settings say about it. */
export type StepsPlace = {
  readonly workspace: string;
  readonly processes: Processes;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs of further secret variables, from the user and the team; the project's list cannot hide variables that steer programs. */
  readonly secretEnv?: () => readonly string[];
  readonly projectSecretEnv?: () => readonly string[];
  /** Names of variables that commands get though nobody looked at them. */
  readonly shellEnv?: () => readonly string[];
  /** Directories in which their programs are looked up; the system's when empty. */
  readonly shellPath?: () => readonly string[];
};

/** What is run of a judged line, or why nothing is. */
type PlannedRun = { readonly steps: readonly Step[]; readonly env: Readonly<Record<string, string>> } | { readonly failed: ToolResult };

/** Turns the plan that was judged into programs, each by the file that was found while judging. Whatever is not as it was judged runs nothing. */
export function planRun(plan: unknown, place: StepsPlace): PlannedRun {
  const line = readPlannedLine(plan);
  if (!line?.commands || line.commands.length === 0)
    return { failed: failure("execution_denied", "The command cannot be run as it was judged.") };
  const path = searchPath(line.commands, place);
  const failed = line.commands.map((command) => findProblem(command, { ...place, path })).find((problem) => problem !== undefined);
  if (failed) return { failed };
  const secrets = { secretEnv: place.secretEnv?.(), projectSecretEnv: place.projectSecretEnv?.() };
  const env = scrubEnvironment(place.environment, { path, names: place.shellEnv?.() ?? [], ...secrets });
  return { steps: makeSteps(line, { processes: place.processes, env }), env };
}

/** What people and the model are told of a program that was refused while the line ran. */
export function describeRefusal({
  file,
  reason,
  message,
  ran,
}: NonNullable<StepsEnd["refused"]>): readonly [type: string, message: string] {
  const rest = ran ? " What stood before it was run." : "";
  if (reason === "changed") return ["operand_changed", `Tool 'shell' was not run: ${file} changed after it was judged.${rest}`];
  return ["execution_denied", `${basename(file)} was not run: ${message}.${rest}`];
}

/** Where programs are taken from; that of the running Node only for a program that was found there. */
function searchPath(commands: readonly PlannedCommand[], { workspace, shellPath }: StepsPlace): readonly string[] {
  const given = shellPath?.() ?? [];
  const own = programDirectories({ path: given.length > 0 ? given : PROGRAM_PATH, workspace });
  const beside = commands.flatMap(({ argv: [name], program }) => (program && !name.includes("/") ? [dirname(program.file)] : []));
  return [...new Set([...own, ...beside])];
}

type SearchedPlace = StepsPlace & { readonly path: readonly string[] };

function findProblem({ argv, cwd, program }: PlannedCommand, { workspace, path }: SearchedPlace): ToolResult | undefined {
  const [name] = argv;
  if (leadsElsewhere(cwd, workspace)) return failure("operand_changed", `Tool 'shell' was not run: ${cwd} changed after it was judged.`);
  if (name === "cd")
    return argv.length === 2 ? undefined : failure("execution_denied", "A change of directory cannot be run as it was judged.");
  if (program) return undefined;
  return failure(
    "shell_execute_error",
    `There is no program ${name} in ${path.join(":")}, where those of allowed commands are looked up. Nothing was run.`,
  );
}

/** A directory of the plan that became a link out of the workspace. */
function leadsElsewhere(cwd: string, workspace: string): boolean {
  const { absolute, real } = resolvePath(cwd, "/");
  return real !== absolute && (real === null || !isInside(workspace, real));
}

type StepParts = { readonly processes: Processes; readonly env: Readonly<Record<string, string>> };

const WHEN = { start: "always", ";": "always", "&&": "success", "||": "failure", "|": "always" } as const;

/** A pipe joins a command to the step before it; everything else begins a new one. */
function makeSteps({ commands = [], readOnly }: PlannedLine, running: StepParts): readonly Step[] {
  const steps: { readonly when: Step["when"]; readonly pipeline: (Program | Entry)[] }[] = [];
  for (const command of commands) {
    const stage = makeStage(command, { ...running, gated: !readOnly });
    const piped = command.join === "|" ? steps.at(-1) : undefined;
    if (piped) piped.pipeline.push(stage);
    else steps.push({ when: WHEN[command.join], pipeline: [stage] });
  }
  return steps;
}

/**
 * Options that keep npm from asking a registry for news and from writing, deleting or rotating files, whatever a `.npmrc` says: there can be no cache and no
 * logs below `/dev/null`, and `--logs-max=0` alone would delete the user's logs.
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

function quietNpm(name: string, args: readonly string[]): readonly string[] {
  const [word = "", ...rest] = args;
  return name === "npm" && ["ls", "-v", "--version"].includes(word) ? [word, ...QUIET_NPM, ...rest] : args;
}

/** What may change the world begins only when its start is on record. */
function makeStage(
  { argv, cwd, redirections, program }: PlannedCommand,
  { processes, env, gated }: StepParts & { readonly gated: boolean },
): Program | Entry {
  const [name, ...args] = argv;
  if (!program) return { enter: resolve(cwd, args[0] ?? "."), redirections };
  const { file } = program;
  const stage: Program = { file, args: quietNpm(name, args), argv0: name, cwd, redirections, gated, unchanged: () => sameProgram(program) };
  return basename(file) === "git" ? { ...stage, prepare: (signal) => hardenGit({ processes, file, args, cwd, env }, signal) } : stage;
}
