import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { GrantRow, Rules, WiderRules } from "@assent/core";
import type { HookEntry } from "@assent/core/parts";
import { createJudgeOnlyRun } from "@assent/guard";
import type { HostPorts } from "@assent/host";
import { type Explanation, explain, isInside, type LoadedPolicy, type WorkspacePolicy } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { offerSeenTools } from "../../compose/mcp/session-servers.ts";
import { givenDirectory, readWorkspace } from "../../compose/place.ts";
import { type OpenedPolicy, openPolicy } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { agentNamed } from "../../guard/agent-name.ts";
import { createOutsidePolicy, type OutsideWorkspace, withUnknownTools } from "../../guard/outside-policy.ts";
import { asFailure } from "../../io/failure.ts";
import { warn } from "../../io/output.ts";
import { stateDirectory } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { warnOfProblems } from "../policy/problem-text.ts";
import { workspaceTrust } from "../trust/workspace-trust.ts";
import { type CallToJudge, type InvalidCall, isInvalidCall, type JudgedCall, type JudgeParts, judgeCall } from "./judge-call.ts";
import { type ExplainLayout, explainText } from "./text.ts";
import { grantsEntry, type RememberedAnswers, withHooks } from "./trace-notes.ts";

export type ExplainContext = JudgeParts & {
  readonly cwd: string;
  readonly rules: Rules;
  readonly hooks: readonly HookEntry[];
  readonly stage: LoadedPolicy["stage"];
  readonly allows: LoadedPolicy["rules"];
  /** Undefined with `--policy`. */
  readonly remembered: RememberedAnswers | undefined;
};

export async function openExplainParts(context: Context): Promise<ExplainContext> {
  const { io, options } = context;
  const workspace = readWorkspace(context);
  const cwd = cwdOf(context, workspace);
  const policyFile = options.text("policy");
  const stored = policyFile === undefined ? await lookAtStore(context, workspace) : undefined;
  const trusted = stored !== undefined && "trusted" in stored && stored.trusted;
  const directory = await stateDirectory(context);
  const ports = hostPortsFor(context, directory);
  const opening = { workspace, trusted, ...(policyFile !== undefined && { policyFile: resolve(io.cwd, policyFile) }) };
  const given = options.text("mode");
  const mode = given === undefined ? {} : { mode: given };
  const named = options.text("client");
  const client = named === undefined ? undefined : agentNamed(named, "explain");
  const { source, tools, facts, rules, hooks } =
    client !== undefined || options.flag("outside")
      ? openOutside(context, { ...opening, ...mode, ports, directory, client })
      : await describeServers(context, await openPolicy(context, { ...opening, flags: mode }), ports);
  const loaded = source.loaded();
  await warnOfProblems(io, loaded.problems);
  const { digest, clock } = ports;
  const known = stored && ("failed" in stored ? stored : { rows: stored.grants, workspace, rules, now: clock.now() });
  const { policy, stage, rules: allows } = loaded;
  return { policy, tools, facts, rules, digest, clock, cwd, hooks: hooks(), stage, allows, remembered: known };
}

/** Adds the tools of MCP servers as they were when the servers last ran, if the calls may be about them. */
async function describeServers(context: Context, policy: OpenedPolicy, ports: HostPorts): Promise<OpenedPolicy> {
  const { options, operands } = context;
  const isMeant = options.text("batch") !== undefined || /^mcp__/i.test(operands[0] ?? options.text("tool") ?? "");
  return isMeant ? await offerSeenTools(context, policy, ports) : policy;
}

function openOutside(context: Context, outside: OutsideWorkspace): WorkspacePolicy {
  const run = createJudgeOnlyRun("another agent");
  const policy = createOutsidePolicy(context, outside, { run });
  return { ...policy, tools: withUnknownTools(policy.tools, run) };
}

/** `--cwd`, else the current directory if it is inside the workspace, else the workspace. */
function cwdOf({ io, options }: Context, workspace: string): string {
  return givenDirectory({ io, options }, "explain") ?? (isInside(workspace, realpathSync(io.cwd)) ? io.cwd : workspace);
}

/** As many as a run reads. */
export const MOST_GRANTS = 1_000;

type StoredAnswers = { readonly trusted: boolean; readonly grants: readonly GrantRow[] } | { readonly failed: string };

async function lookAtStore(context: Context, workspace: string): Promise<StoredAnswers> {
  try {
    return await withStoreIfAny(context, async ({ ledger }) => {
      const { trusted } = await workspaceTrust(context, { workspace, ledger });
      return { trusted, grants: await ledger.pending("grants", { limit: MOST_GRANTS }) };
    });
  } catch (error) {
    const { message } = asFailure(error);
    await warn(context.io, `the record cannot be read, so the workspace is treated as not trusted: ${message}`);
    return { failed: `the remembered answers cannot be read: ${message}` };
  }
}

export type ExplainedCall = {
  readonly explanation: Explanation;
  /** Empty if no rule can allow it. */
  readonly offers: readonly string[];
  readonly wider: WiderRules | undefined;
  readonly text: (look: Pick<ExplainLayout, "columns" | "style">) => string;
};

export async function explainCall(explaining: ExplainContext, call: CallToJudge): Promise<ExplainedCall | InvalidCall> {
  const assessed = await judgeCall(explaining, call);
  if (isInvalidCall(assessed)) return assessed;
  const explanation = await buildExplanation(assessed, explaining);
  const { request, decision } = assessed;
  const offers = decision.verdict === "ask" && !decision.explicitAsk ? explaining.rules.offer(request) : [];
  const wider = offers.length > 0 ? explaining.rules.offerWider?.(request) : undefined;
  const [unit, ...others] = request.units;
  const isSingle = others.length === 0 && request.kind !== "execute" && unit?.subject !== call.tool;
  const subject = isSingle ? `${call.tool} ${unit?.subject ?? ""}` : String(request.input["command"] ?? call.tool);
  return { explanation, offers, wider, text: (look) => explainText(explanation, { ...look, subject, offers, wider }) };
}

/** Names hooks that only a real call runs and what remembered answers would do. */
export async function buildExplanation(judged: JudgedCall, { remembered, hooks, stage, allows }: ExplainContext): Promise<Explanation> {
  const { staging, ...assessed } = judged;
  const explanation = explain(assessed, staging && { reading: staging, rules: stage }, allows);
  const trace = await withHooks(explanation.trace, assessed.request, hooks);
  return { ...explanation, trace: remembered ? [...trace, grantsEntry(assessed, remembered)] : trace };
}
