import { strictest } from "../../model/decide.ts";
import type { Opinion } from "../../model/decision.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Registry } from "../../registry.ts";
import { defineTool } from "../../tool.ts";
import type { Tool, ToolOpinion } from "../../tool-definition.ts";
import { type AssessmentInput, assessRequest, fingerprinted, type Judgeable } from "../pipeline/assess.ts";
import type { BatchRun } from "../pipeline/call-run.ts";
import type { Assessment, CallAssessment, ParsedCall } from "../pipeline/judged-call.ts";

/** Bound to the request, because consent to a preview is not consent to the change. */
export const STAGES = "staged";

/** A call to be staged is judged as reading its files. */
export async function assessPreview(
  batch: BatchRun,
  assessing: AssessmentInput,
  { invocation }: Pick<ParsedCall, "invocation">,
): Promise<CallAssessment> {
  const plain = await assessRequest(assessing);
  const subject = await assessStaging(assessing, plain, { tools: batch.batch.tools, warn: (message) => batch.deps.warn?.(message) });
  if (!subject) return plain;
  const { request, facts } = plain;
  const { fingerprint: _other, ...same } = request;
  const staged = fingerprinted({ ...same, binds: { ...request.binds, effect: STAGES } }, assessing.digest);
  const { decision, circumstances, policy } = subject;
  const prompt = `Preview ${invocation.describe()}. It reads the files it names; nothing is changed by it.`;
  return {
    request: staged,
    decision,
    facts,
    safe: plain.safe,
    policy,
    circumstances,
    subject,
    stages: true,
    asking: { details: { type: "info", prompt } },
  };
}

export type StagingAround = { readonly tools: Pick<Registry, "get">; readonly warn?: ((message: string) => void) | undefined };

/** Judges staging a call as a read. Undefined if the call is denied or not staged. */
export async function assessStaging(assessing: AssessmentInput, plain: Assessment, around: StagingAround): Promise<Assessment | undefined> {
  const { tool } = assessing;
  if (tool.definition.preview === undefined || plain.decision.verdict === "deny" || !isStaged(around, tool, plain)) return undefined;
  return await assessRequest(await asReading(around, assessing));
}

/** A failing setting stages, which is stricter. The plan file is never staged. */
function isStaged({ warn }: StagingAround, { definition }: Tool, { request, facts, policy }: Assessment): boolean {
  if (policy.mode === "plan" && facts.planFile === true) return false;
  if (definition.alwaysStages) return true;
  try {
    return policy.proposals?.stages(request) === true;
  } catch (error) {
    warn?.(`could not determine whether to stage ${request.tool}: ${messageOf(error)}`);
    return true;
  }
}

/** The tool that a preview is judged as. */
export const READING = "read";

let ownReading: Tool | undefined;

function readTool(): Tool {
  ownReading ??= defineTool({
    name: READING,
    title: "Read",
    description: "Reads a file.",
    kind: "read",
    input: { type: "object" },
    run: () => "",
  });
  return ownReading;
}

export async function asReading({ tools }: StagingAround, assessing: AssessmentInput): Promise<AssessmentInput> {
  const registered = tools.get(READING);
  const tool = registered?.kind === "read" ? registered : readTool();
  const opinion = await readingOpinion(tool, assessing);
  const { input } = assessing.invocation;
  const invocation: Judgeable = { input, locations: () => assessing.invocation.locations(), opinion: () => opinion, safe: () => false };
  return { ...assessing, tool, invocation, fingerprint: true };
}

const UNDECLARED: ToolOpinion = Object.freeze({ verdict: "allow", declared: false });

async function readingOpinion(tool: Tool, { invocation, cwd }: AssessmentInput): Promise<ToolOpinion> {
  const paths = invocation.locations() ?? [];
  if (tool === ownReading || !tool.definition.permission) return UNDECLARED;
  const opinions: (Opinion & { readonly said: ToolOpinion })[] = [];
  for (const { path } of paths) {
    try {
      const built = await tool.build({ file_path: path }, { cwd, callId: "", sessionId: "" });
      const said = await built.opinion();
      opinions.push({ verdict: said.verdict, reason: "tool", source: "", said });
    } catch {
      return UNDECLARED;
    }
  }
  return strictest(opinions)?.said ?? UNDECLARED;
}
