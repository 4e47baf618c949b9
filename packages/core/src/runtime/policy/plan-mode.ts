import { ToolError } from "../../errors.ts";
import type { PlanFiles } from "../../file-ports.ts";
import { PLAN_WORDS } from "../../model/answer-words.ts";
import type { EventBodies } from "../../model/events.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { unicodePattern } from "../../model/text/unicode-pattern.ts";
import type { Digest } from "../../ports.ts";
import type { RuntimeHandler } from "../dispatch.ts";
import type { Proposals } from "../proposal/proposals.ts";
import type { FallbackContext, FallbackQuestion, FallbackResult, ResolveFallback } from "../proposal/resolve.ts";
import type { Session } from "../session/session.ts";
import type { Modes } from "./modes.ts";

/** The parts of plan mode. */
export type PlanModeParts = {
  readonly session: Session;
  readonly modes: Modes;
  readonly files: PlanFiles;
  readonly digest: Digest;
  readonly proposals: Pick<Proposals, "setResolveFallback">;
  readonly isLocked?: (mode: string) => boolean;
};

/** Plan mode of one session. */
export type PlanMode = {
  readonly plan: () => Promise<string | undefined>;
  readonly close: () => void;
};

type PlanState = NonNullable<EventBodies["mode.changed"]["planning"]>;

/** Lets `resolve` propose the plan while the main session is in mode `plan`. */
export function createPlanMode(parts: PlanModeParts): PlanMode {
  const { session, modes, files, proposals } = parts;
  let on: PlanState | null = null;
  const follow = (): void => {
    const planning = isAgent(session) ? null : session.state.planning;
    const now = planning ?? null;
    if (on?.file === now?.file && on?.remembered === now?.remembered) return;
    on = now;
    proposals.setResolveFallback(now && planHandler(parts, now));
  };
  follow();
  const unsubscribe = modes.subscribe(follow);
  return {
    plan: async () => {
      const { planning } = session.state;
      return planning ? await files.read(planning.file) : undefined;
    },
    close: unsubscribe,
  };
}

function isAgent({ state }: Session): boolean {
  return state.created !== undefined && state.created.parent !== null;
}

/** The body of `enter_plan_mode`. */
export function enterPlanMode(modes: Modes, canApprove: () => boolean): RuntimeHandler {
  return async (session) => {
    if (isAgent(session)) return refused("Only the main session can enter plan mode.");
    if (session.state.planning) return "Plan mode is already on.";
    if (!canApprove()) return refused("Plan mode was not entered: no one can approve a plan in this run.");
    await modes.change("plan", "model");
    return `Plan mode is on. Write the plan to ${planFileOf(session)}, then call resolve.`;
  };
}

function planFileOf(session: Session): string {
  const { planning } = session.state;
  return planning ? shownPath(session, planning.file) : "its file";
}

function refused(message: string): ToolResult {
  return { content: message, error: { message, type: "execution_denied" } };
}

function planHandler(parts: PlanModeParts, planning: PlanState): ResolveFallback {
  return {
    label: "Plan",
    sourceToolName: "plan_mode",
    gone: "Plan mode is off.",
    ask: ({ extra }) => question(parts, planning, extra).catch(asAnswer),
    apply: ({ extra }, ctx) => approve(parts, planning, { extra, ctx }),
  };
}

async function question(parts: PlanModeParts, planning: PlanState, extra: JsonObject | undefined): Promise<FallbackQuestion> {
  const { plan, title, digest } = await readProposed(parts, planning, extra);
  if (await parts.files.isTaken(titledPath(planning, title))) throw taken(title);
  return {
    details: { type: "plan", plan, title, prePlanMode: planning.remembered, digest },
    digest,
    label: `Plan: ${title}`,
    unattended: `No person can approve the plan here. It is kept at ${shownPath(parts.session, planning.file)}.`,
    rejected: (reason) => ({ type: "plan_rejected", text: `Plan rejected.${reason === undefined ? "" : ` Reason: ${reason}`}` }),
  };
}

function asAnswer(error: unknown): { readonly answer: ToolResult } {
  if (!(error instanceof ToolError)) throw error;
  const { message, type } = error;
  return { answer: { content: message, error: { message, type } } };
}

type ProposedPlan = { readonly plan: string; readonly title: string; readonly digest: string };

async function readProposed(
  { session, files, digest }: PlanModeParts,
  { file }: PlanState,
  extra: JsonObject | undefined,
): Promise<ProposedPlan> {
  const plan = await files.read(file);
  if (plan === undefined || plan.trim() === "")
    throw new ToolError(`No plan found. Write the plan to ${shownPath(session, file)} first, then call resolve.`, "plan_missing");
  const stem = file.slice(file.lastIndexOf("/") + 1).replace(/\.md$/, "");
  const named = planTitle(extra?.["title"], plan, stem === session.id ? undefined : stem);
  if ("fault" in named) throw new ToolError(named.fault, "invalid_tool_params");
  return { plan, title: named.title, digest: `sha256:${digest.sha256(plan)}` };
}

function titledPath({ file }: PlanState, title: string): string {
  return `${file.slice(0, file.lastIndexOf("/"))}/${title}.md`;
}

function taken(title: string): ToolError {
  return new ToolError(`A plan named ${title} exists. Give another title in extra.title.`, "plan_exists");
}

type PlanApproval = { readonly extra: JsonObject | undefined; readonly ctx: FallbackContext };

/** A plan that cannot be saved is not approved. */
async function approve(parts: PlanModeParts, planning: PlanState, { extra, ctx }: PlanApproval): Promise<FallbackResult> {
  const { session, modes, files } = parts;
  const { answer } = ctx;
  if (!answer) throw new Error("the plan is not approved");
  const mode = answer.mode ?? "default";
  if (parts.isLocked?.(mode)) throw new ToolError(`The plan was not approved: mode ${mode} is locked.`, "execution_denied");
  const proposed = await readProposed(parts, planning, extra).catch(() => undefined);
  if (proposed?.digest !== ctx.digest || !proposed)
    throw new ToolError("The plan changed while it was being reviewed. Call resolve again.", "plan_changed");
  const { plan, title } = proposed;
  const kept = titledPath(planning, title);
  ctx.commit();
  if (!(await files.keepAs(planning.file, kept))) throw taken(title);
  await modes.change(mode, answer.by.name);
  const planFile = shownPath(session, kept);
  const message = `Plan approved: ${title}. Mode: ${mode}.`;
  return {
    label: `Plan: ${title}`,
    result: {
      content: `${message}\n${planFile}`,
      display: { type: "plan_summary", message, plan },
      details: { title, planFile, mode, outcome: outcomeOf(mode, planning) },
    },
  };
}

function outcomeOf(mode: string, { remembered }: PlanState): string {
  const words = Object.entries(PLAN_WORDS).filter(([, meant]) => meant === mode && (mode === "default" || mode !== remembered));
  return words[0]?.[0] ?? "restore_previous";
}

function shownPath({ state }: Session, path: string): string {
  const workspace = `${state.created?.workspace ?? ""}/`;
  return path.startsWith(workspace) ? path.slice(workspace.length) : path;
}

/** A plan's title, or why the given one is invalid. */
export type PlanTitle = { readonly title: string } | { readonly fault: string };

const LONGEST = 64;
const oddInTitles = unicodePattern(String.raw`[^\p{L}\p{M}\p{N}\-_.]`, "gu");
const DEVICES = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.|$)/i;

/** The file name of a plan, from its title, first heading or file. */
export function planTitle(given: unknown, plan: string, stem: string | undefined): PlanTitle {
  if (typeof given === "string" && /[/\\\0]/.test(given)) return { fault: "title must not contain path separators" };
  for (const source of [typeof given === "string" ? given : undefined, firstHeading(plan), stem]) {
    const title = source === undefined ? "" : clean(source);
    if (title !== "") return { title: DEVICES.test(title) ? `${title}-plan` : title };
  }
  return { title: "plan" };
}

function clean(source: string): string {
  const words = source.trim().replace(/\.md$/i, "").replace(/\s+/gu, "-").replace(oddInTitles(), "").replace(/-+/g, "-");
  return trimEnds([...trimEnds(words)].slice(0, LONGEST).join(""));
}

function trimEnds(text: string): string {
  return text.replace(/^[.-]+|[.-]+$/g, "");
}

function firstHeading(plan: string): string | undefined {
  let fence: string | undefined;
  for (const line of plan.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else {
      const heading = /^ {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)?.[1];
      if (heading !== undefined) return heading;
    }
  }
  return undefined;
}
