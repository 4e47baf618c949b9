import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CallContext, EffectPreview, EffectPreviewer, PathChange, ProcessEnd, ShownChange } from "@assent/core";
import { composeCut, cutOutput, unifiedDiff } from "@assent/core/parts";
import type { EffectRun, EffectRunner } from "@assent/host";
import { isInside } from "@assent/policy";
import { NO_BASH, textProgram } from "./bash.ts";
import type { ShellContainment } from "./containment.ts";
import { makeShellResult } from "./result.ts";
import { describeSelfStart, IN_GIT } from "./runs-by-itself.ts";
import type { StepsPlace } from "./steps.ts";

type CommandInput = {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly timeout_ms?: number | undefined;
  readonly pty?: boolean | undefined;
  readonly run_in_background?: boolean | undefined;
};

const MOST_MS = 120_000;
/** What fits a card. */
const OUTPUT_CUT = { maxChars: 8_000, maxLines: 100, keep: "both" } as const;
const MOST_LINES = 400;
const MOST_BLOCK_LINES = 4_000;

type PreviewerDeps = StepsPlace & { readonly effects: EffectRunner; readonly containment: ShellContainment };

/** Shows what a command does: runs it as text, as after an approval, on a view of the workspace. */
export function shellPreviewer(deps: PreviewerDeps): EffectPreviewer<CommandInput> {
  const { workspace, effects, containment } = deps;
  const inexact = new Set<string>();
  return {
    unavailable: async ({ command, cwd, run_in_background }, ctx) => {
      const place = resolve(ctx.cwd, cwd ?? ".");
      if (run_in_background) return "A command in the background has no end at which to look at its changes.";
      if (!isInside(workspace, place)) return `It runs in ${place}, outside the workspace.`;
      if (!textProgram(deps, command)) return NO_BASH;
      const probe = await containment.probe();
      return probe.works ? undefined : probe.reason;
    },
    run: async ({ command, cwd, timeout_ms, pty }, ctx) => {
      const program = textProgram(deps, command);
      if (!program) throw new Error(NO_BASH);
      const timeoutMs = Math.min(timeout_ms ?? MOST_MS, MOST_MS);
      const exact = inexact.delete(callName(ctx)); // the overlay may be why it failed
      const confinement = await containment.enterView(program.env["PATH"] ?? "");
      const run = await effects.run({ ...program, cwd: resolve(ctx.cwd, cwd ?? "."), timeoutMs, exact, confinement }, ctx.signal);
      const preview = await describeRun(run, { workspace, command, timeoutMs, pty: pty === true, isControl: containment.isControl });
      if (!preview.succeeded && run.how === "overlay") inexact.add(callName(ctx));
      return preview;
    },
  };
}

function callName({ sessionId, callId }: CallContext): string {
  return `${sessionId} ${callId}`;
}

type RanCommand = Pick<ShellContainment, "isControl"> & {
  readonly workspace: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly pty: boolean;
};

async function describeRun(run: EffectRun, { workspace, command, timeoutMs, pty, isControl }: RanCommand): Promise<EffectPreview> {
  const { end, planned } = run;
  const save = (): Promise<never> => Promise.reject(new Error("the output of a preview is kept in the ledger"));
  const { content } = await makeShellResult(end, { timeoutMs, isTerminal: false, save });
  const succeeded = end.ended === "exit" && end.exitCode === 0;
  const cut = cutOutput(end.output, OUTPUT_CUT);
  const unwritable = succeeded ? run.unwritable : "The command did not succeed.";
  const byPath = new Map(planned.map((change) => [change.path, change]));
  const found = (path: string): PathChange | undefined => byPath.get(join(workspace, path));
  const limits = describeLimits(run, { pty, succeeded });
  const { blocks, unshown } = describeChanges(run.changes, found);
  return {
    label: command,
    ended: describeEnd(end, timeoutMs),
    succeeded,
    output: cut ? composeCut(cut, undefined) : end.output.trimEnd(),
    changes: run.changes.map((change) => {
      const runs =
        change.what === "deleted"
          ? undefined
          : describeSelfStart(change.path, found(change.path), (path) => isControl(join(workspace, path)));
      return flagChange(change, runs, unshown.get(change.path));
    }),
    blocks,
    notes: [...limits, ...(succeeded ? [] : describeOutsideGit(workspace)), ...describeUnread(run, unshown, unwritable)],
    ...(unwritable !== undefined && { unwritable }),
    planned: unwritable === undefined ? planned : [],
    result: [typeof content === "string" ? content : "", ...limits.filter((line) => line !== OFFLINE).map((line) => `[${line}]`)].join(
      "\n",
    ),
  };
}

function describeEnd({ ended, exitCode, signal }: ProcessEnd, timeoutMs: number): string {
  if (ended === "timeout") return `stopped after ${timeoutMs / 1000} s`;
  if (ended === "cancelled") return "stopped";
  return signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;
}

function flagChange(change: ShownChange, runs: string | undefined, unshown: string | undefined): ShownChange {
  const note = [change.note, unshown].filter((part) => part !== undefined).join(", ");
  return { ...change, ...(note !== "" && { note }), ...(runs !== undefined && { runs }) };
}

/** In a linked worktree, git's own files are elsewhere. */
function describeOutsideGit(workspace: string): readonly string[] {
  try {
    const place = resolve(workspace, readFileSync(join(workspace, ".git"), "utf8").replace(/^gitdir: |\n$/g, ""));
    return isInside(workspace, place)
      ? []
      : [`This is a linked worktree. Its repository, ${place}, is outside the workspace and not in the copy.`];
  } catch {
    return []; // a directory, or no repository
  }
}

const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|network is unreachable|could not resolve|name resolution|failed to connect to|couldn't connect/i;

const OFFLINE = "The network was off.";

function describeLimits(
  { end, how, stayed, outside }: EffectRun,
  { pty, succeeded }: { pty: boolean; succeeded: boolean },
): readonly string[] {
  return [
    NETWORK.test(end.output) ? "It tried to use the network, which was off." : OFFLINE,
    ...(stayed.length > 0 ? [`Still running when it ended, and stopped: ${someOf(stayed)}.`] : []),
    ...(outside.length > 0 ? [`Written outside the workspace, and thrown away: ${someOf(outside)}.`] : []),
    ...(pty ? ["It ran without a terminal."] : []),
    ...(how === "overlay" && !succeeded
      ? ["It ran on an overlay, which refuses to rename directories. Preview it again to run it on a full copy."]
      : []),
  ];
}

function describeUnread(
  { planned, changes }: EffectRun,
  unshown: ReadonlyMap<string, string>,
  unwritable: string | undefined,
): readonly string[] {
  if (planned.length === 0 && changes.length > 0) return ["The contents of the changed files are not shown."];
  const paths = [...unshown.keys()];
  const inGit = paths.filter((path) => IN_GIT.test(path)).length;
  const names = [
    ...paths.filter((path) => !IN_GIT.test(path)),
    ...(inGit > 0 ? [`${inGit} ${inGit === 1 ? "file" : "files"} in .git`] : []),
  ];
  if (names.length === 0) return [];
  return [`Not shown in full: ${someOf(names)}.${unwritable === undefined ? " Writing these changes approves what is not shown." : ""}`];
}

function someOf(names: readonly string[]): string {
  const different = [...new Set(names)];
  const shown = different.slice(0, 3).join(", ");
  return different.length > 3 ? `${shown} and ${different.length - 3} more` : shown;
}

type DescribedChanges = { readonly blocks: readonly string[]; readonly unshown: ReadonlyMap<string, string> };

/** A diff for each changed text, and what is missing of the rest. */
function describeChanges(changes: readonly ShownChange[], find: (path: string) => PathChange | undefined): DescribedChanges {
  const blocks: string[] = [];
  const unshown = new Map<string, string>();
  let room = MOST_BLOCK_LINES;
  for (const { path, what } of changes) {
    const change = what === "created" || what === "modified" ? find(path) : undefined;
    if (!(change?.after instanceof Uint8Array)) continue;
    const [before, after] = [textOf(change.before), textOf(change.after)];
    if (after === undefined) {
      unshown.set(path, `binary, ${change.after.length} bytes, not shown`);
      continue;
    }
    const lines = unifiedDiff({ name: path, before: before ?? null, after }).split("\n");
    const most = Math.min(MOST_LINES, room);
    if (lines.length > most) unshown.set(path, `${Math.max(0, most)} of ${lines.length} lines shown`);
    if (most > 0 && lines.length > 1) blocks.push([...lines.slice(0, most)].join("\n"));
    room -= Math.min(lines.length, most);
  }
  return { blocks, unshown };
}

/** Undefined for binary content. */
function textOf(content: PathChange["after"] | undefined): string | undefined {
  if (!(content instanceof Uint8Array) || content.subarray(0, 8_000).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}
