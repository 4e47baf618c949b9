import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { unifiedDiff } from "@assent/core/parts";
import {
  AGENTS,
  AgentConfigError,
  type AgentFile,
  type AgentName,
  agentFiles,
  GATEWAY_NAME,
  type HookSetup,
  type InstallScope,
  WRAPPER_NAME,
  wrapperScript,
} from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { confirmInTerminal } from "../desk/terminal/confirm.ts";
import { CommandError, usageError } from "../io/failure.ts";
import type { Io } from "../io/io.ts";
import { printJson } from "../io/output.ts";
import { lastingStore, stateDirectory, userHome, withoutPassword } from "../store/location.ts";
import { agentNamed } from "./agent-name.ts";
import { forgetDoctorResult } from "./doctor-results.ts";
import { SPARE_SECONDS } from "./hook.ts";
import { readText } from "./read-text.ts";

/** A file with its old and new text; null means absent. */
export type FileEdit = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Set for files of Assent. */
  readonly mode?: number;
  /** Not shown: it repeats what another edit shows. */
  readonly isRecord?: true;
};

/** Writes the hooks into the configuration of an agent, after showing the change. */
export async function installHooks(context: Context): Promise<number> {
  const agent = agentNamed(context.operands[0] ?? "");
  const scope = scopeOf(context, "hook install");
  const directory = await stateDirectory(context);
  const wrapper = join(directory, "hooks", WRAPPER_NAME);
  const setup = readSetup(context, agent, wrapper);
  const script = wrapperScript({ node: process.execPath, program: realpathSync(process.argv[1] ?? ""), env: lastingEnvironment(context) });
  const edits = [
    { path: wrapper, before: readText(wrapper), after: script, mode: 0o700 },
    ...filesOf(context, agent, scope).map((file) => editFile(file, (text) => file.install(text, setup))),
  ];
  return changeFiles(context, edits, {
    finish: () => forgetDoctorResult(context, agent),
    done: `The hooks of ${AGENTS[agent].title} are installed. ${agent === "codex" ? TRUST_FIRST : ""}Prove it: assent hook doctor ${agent}`,
    nothing: "Nothing to change: the hooks are installed.",
  });
}

/** The setting `store` is read again at every start, so only the variable of the person's own environment is kept. */
export function lastingEnvironment({ io }: Context): Io["env"] {
  const { ASSENT_STORE: store } = process.env;
  if (store !== undefined && withoutPassword(store) !== store)
    throw usageError("hook install", "ASSENT_STORE has a password, which the hook's script would show. Put it into ~/.pgpass.");
  return { ...io.env, ASSENT_STORE: store };
}

/** Removes the hooks again. The wrapper stays, because other agents may use it. */
export async function uninstallHooks(context: Context): Promise<number> {
  const agent = agentNamed(context.operands[0] ?? "");
  const edits = filesOf(context, agent, scopeOf(context, "hook uninstall")).map((file) =>
    editFile(file, (text) => {
      const left = file.uninstall(text);
      const isEmpty = left !== text && /^\s*\{\s*\}\s*$/.test(left ?? "");
      return isEmpty && !existsSync(backupOf(file.path)) ? undefined : left; // install created the file
    }),
  );
  return changeFiles(context, edits, {
    finish: () => forgetDoctorResult(context, agent),
    done: `${AGENTS[agent].title} is no longer guarded.`,
    nothing: "Nothing to change: there are no hooks of Assent.",
  });
}

const TRUST_FIRST = "Start codex once and trust the new hook, because Codex skips hooks that you have not trusted. ";

export function filesOf({ io }: Context, agent: AgentName, scope: InstallScope): readonly AgentFile[] {
  return agentFiles(agent, scope, { home: userHome(io.env), project: io.cwd, env: io.env });
}

/** `--user` or `--project`. */
export function scopeOf({ options }: Context, command: string): InstallScope {
  if (options.flag("user") && options.flag("project"))
    throw usageError(command, "options '--user' and '--project' cannot be used together.");
  return options.flag("project") ? "project" : "user";
}

function readSetup(context: Context, agent: AgentName, wrapper: string): HookSetup {
  const { timeoutSeconds } = AGENTS[agent];
  const [onAsk, store] = [context.options.text("on-ask"), lastingStore(context)];
  if (onAsk === "both" && agent !== "claude")
    throw usageError("hook install", "'--on-ask both' is only for claude: the other agents have no dialog that a hook can answer.");
  return {
    wrapper,
    timeoutSeconds,
    besideDialog: onAsk === "both",
    options: store === undefined ? [] : ["--store", store],
    decideOptions: ["--deadline", `${timeoutSeconds - SPARE_SECONDS}s`, ...(onAsk === undefined ? [] : ["--on-ask", onAsk])],
  };
}

/** The change of one file of an agent. */
export function editFile({ path }: Pick<AgentFile, "path">, edit: (text: string) => string | undefined): FileEdit {
  const before = readText(path);
  try {
    const after = edit(before ?? "") ?? null;
    return { path, before, after: after === "" && before === null ? null : after };
  } catch (error) {
    if (!(error instanceof AgentConfigError)) throw error;
    throw new CommandError(error.type, 1, { message: `${path} cannot be changed: ${error.message}` });
  }
}

/** What is said and done besides writing. */
export type ConfigChange = { readonly done: string; readonly nothing: string; readonly finish?: () => Promise<void> };

/** Shows changes of files, asks, and writes them. */
export async function changeFiles(context: Context, all: readonly FileEdit[], { done, nothing, finish }: ConfigChange): Promise<number> {
  const { io, options } = context;
  const edits = all.filter(({ before, after }) => before !== after);
  const json = options.flag("json");
  if (edits.length === 0) {
    await (json ? printJson(io, { changed: [] }) : io.stdout.write(`${nothing}\n`));
    return 0;
  }
  const lines = edits.flatMap(({ path, before, after, isRecord }) =>
    isRecord ? [] : unifiedDiff({ name: path.replace(/^\//, ""), before, after: after ?? "" }).split("\n"),
  );
  const dryRun = options.flag("dry-run");
  if (!json && (dryRun || options.flag("yes"))) await io.stdout.write(`${lines.join("\n")}\n`);
  if (!dryRun) {
    if (!options.flag("yes") && !(await isConfirmed(context, lines))) return 1;
    for (const edit of edits) await writeEdit(context, edit);
    await finish?.();
    await (json ? undefined : io.stdout.write(`${done}\n`));
  }
  if (dryRun && !json) await io.stdout.write("Nothing was written.\n");
  if (json) await printJson(io, { changed: dryRun ? [] : edits.map(({ path }) => path), diff: lines.join("\n") });
  return 0;
}

async function isConfirmed(context: Context, lines: readonly string[]): Promise<boolean> {
  const { io } = context;
  if (io.stdinIsTTY && io.stderr.isTTY)
    return confirmInTerminal(context, { lines, question: "Write these changes? Type y and Enter: ", declined: "Nothing was changed." });
  throw new CommandError("confirmation_required", 2, {
    message: "Changing an agent's configuration needs a terminal, or --yes. Nothing was changed.",
    hint: "Look first: add --dry-run",
  });
}

function backupOf(path: string): string {
  return `${path}.before-assent`;
}

/** Keeps the first version of a file that was not ours as a backup. */
async function writeEdit(context: Context, { path, before, after, mode }: FileEdit): Promise<void> {
  const { files } = hostPortsFor(context, await stateDirectory(context));
  const backup = backupOf(path);
  const isOthers = before !== null && mode === undefined && ![WRAPPER_NAME, GATEWAY_NAME].some((name) => before.includes(name));
  if (isOthers && !existsSync(backup)) await files.replace(backup, before, { mode: statSync(path).mode & 0o777 }); // it may hold secrets
  if (after === null) return rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true, ...(mode !== undefined && { mode: 0o700 }) });
  await files.replace(path, after, mode === undefined ? {} : { mode });
}
