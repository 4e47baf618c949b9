import { basename, dirname, resolve } from "node:path";
import type { PlanEntry, PlanProgram, PlanStep, Processes, StepsEnd, StepsSpec, ToolResult } from "@assent/core";
import { hardenGit, scrubEnvironment } from "@assent/host";
import {
  isInside,
  type PlannedCommand,
  type PlannedLine,
  programDirectories,
  programPlaces,
  readPlannedLine,
  resolvePath,
  sameProgram,
} from "@assent/policy";
import { failure } from "../failure.ts";

/** Where a judged command line runs, and its settings. */
export type StepsPlace = {
  readonly workspace: string;
  readonly processes: Processes;
  /** The environment that commands inherit, with known secrets removed. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Name globs of additional secret variables, from the user and the team. The project's list cannot hide variables that control
   * programs.
   */
  readonly secretEnv?: () => readonly string[];
  readonly projectSecretEnv?: () => readonly string[];
  /** Variables passed to commands that a rule allowed. */
  readonly shellEnv?: () => readonly string[];
  /** Directories to look up programs in; if empty, the system's and those of the user's `PATH`. */
  readonly shellPath?: () => readonly string[];
};

/** Starts a prepared command, and follows it to its end. */
export type StartCommand = (
  following: Pick<StepsSpec, "timeoutMs" | "onStart" | "onOutput" | "spill" | "spillsAll" | "confine">,
  signal: AbortSignal,
) => Promise<StepsEnd>;

type PlannedRun = { readonly steps: readonly PlanStep[]; readonly env: Readonly<Record<string, string>> } | { readonly failed: ToolResult };

/** Turns a judged plan into programs, each by the file found while judging. If anything differs from what was judged, nothing runs. */
export function planRun(plan: unknown, place: StepsPlace): PlannedRun {
  const line = readPlannedLine(plan);
  if (!line?.commands || line.commands.length === 0)
    return { failed: failure("execution_denied", "The command cannot run the way it was judged.") };
  const path = searchPath(line.commands, place);
  const failed = line.commands.map((command) => findProblem(command, { ...place, path })).find((problem) => problem !== undefined);
  if (failed) return { failed };
  const secrets = { secretEnv: place.secretEnv?.(), projectSecretEnv: place.projectSecretEnv?.() };
  const env = scrubEnvironment(place.environment, { path, names: place.shellEnv?.() ?? [], ...secrets });
  return { steps: makeSteps(line, { processes: place.processes, env }), env };
}

/** Explains to people and the model why a program was refused. */
export function describeRefusal({
  file,
  reason,
  message,
  ran,
}: NonNullable<StepsEnd["refused"]>): readonly [type: string, message: string] {
  const rest = ran ? " The commands before it did run." : "";
  if (reason === "changed") return ["operand_changed", `Tool 'shell' was not run: ${file} changed after it was judged.${rest}`];
  return ["execution_denied", `${basename(file)} was not run: ${message}.${rest}`];
}

/** A program that only the user's `PATH` leads to finds its interpreter beside it, as npm finds node. The directory of the running Node counts only for programs found there. */
function searchPath(commands: readonly PlannedCommand[], { workspace, shellPath, environment }: StepsPlace): readonly string[] {
  const own = programDirectories(programPlaces(shellPath?.() ?? [], { workspace, userPath: environment["PATH"] }));
  const found = commands.flatMap(({ argv: [name], program }) => (program && !name.includes("/") ? [program] : []));
  const first = found.filter(({ byUserPath }) => byUserPath);
  return [...new Set([...first.map(({ file }) => dirname(file)), ...own, ...found.map(({ file }) => dirname(file))])];
}

type SearchedPlace = StepsPlace & { readonly path: readonly string[] };

function findProblem({ argv, cwd, program }: PlannedCommand, { workspace, path }: SearchedPlace): ToolResult | undefined {
  const [name] = argv;
  if (leadsElsewhere(cwd, workspace)) return failure("operand_changed", `Tool 'shell' was not run: ${cwd} changed after it was judged.`);
  if (name === "cd")
    return argv.length === 2 ? undefined : failure("execution_denied", "A change of directory cannot run the way it was judged.");
  if (program) return undefined;
  return failure(
    "shell_execute_error",
    `There is no program ${name} in ${path.join(":")}, where programs of allowed commands are looked up. Nothing was run.`,
  );
}

/** True if a directory of the plan became a link out of the workspace. */
function leadsElsewhere(cwd: string, workspace: string): boolean {
  const { absolute, real } = resolvePath(cwd, "/");
  return real !== absolute && (real === null || !isInside(workspace, real));
}

type StepParts = { readonly processes: Processes; readonly env: Readonly<Record<string, string>> };

const WHEN = { start: "always", ";": "always", "&&": "success", "||": "failure", "|": "always" } as const;

/** A pipe adds a command to the previous step; anything else starts a new step. */
function makeSteps({ commands = [], readOnly }: PlannedLine, running: StepParts): readonly PlanStep[] {
  const steps: { readonly when: PlanStep["when"]; readonly pipeline: (PlanProgram | PlanEntry)[] }[] = [];
  for (const command of commands) {
    const stage = makeStage(command, { ...running, gated: !readOnly });
    const piped = command.join === "|" ? steps.at(-1) : undefined;
    if (piped) piped.pipeline.push(stage);
    else steps.push({ when: WHEN[command.join], pipeline: [stage] });
  }
  return steps;
}

/** Git runs without the repository's programs, unless a rule accepted them. A program that may change something starts only after its start is recorded. */
function makeStage(
  { argv, cwd, redirections, program, described, recheck, gitData: data = [] }: PlannedCommand,
  { processes, env, gated }: StepParts & { readonly gated: boolean },
): PlanProgram | PlanEntry {
  const [name, ...args] = argv;
  if (!program) return { enter: resolve(cwd, args[0] ?? "."), redirections };
  const { file } = program;
  const stage: PlanProgram = {
    file,
    args,
    argv0: name,
    cwd,
    redirections,
    gated,
    unchanged: () => sameProgram(program),
  };
  const isHardened = described && basename(file) === "git";
  if (!isHardened && !recheck) return stage;
  return {
    ...stage,
    prepare: async (signal) => {
      const changed = recheck?.();
      if (changed !== undefined) throw new Error(`an earlier command changed what it does: ${changed}`);
      return isHardened ? await hardenGit({ processes, file, args, cwd, env, data }, signal) : args;
    },
  };
}
