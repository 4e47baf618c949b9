import { AnswerError } from "../../errors.ts";
import type { ApprovalRow, Ledger } from "../../ledger-port.ts";
import type { Answer } from "../../model/answer.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { applyName } from "../../model/pattern/pattern.ts";
import { judgedPaths } from "../../model/proposal/proposal.ts";
import type { Request } from "../../model/request.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Digest, Facts } from "../../ports.ts";
import type { Registry } from "../../registry.ts";
import type { Invocation, Location, Tool } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import type { DispatcherDeps } from "../dispatch.ts";
import { fingerprinted } from "../pipeline/assess.ts";
import { patternRules } from "../policy/pattern-rules.ts";
import { READING, STAGES } from "../proposal/assess-preview.ts";
import { findPartProblem } from "../proposal/effect-part.ts";
import { findProposal, readStoredProposal } from "../proposal/stored.ts";
import { readCallRecord } from "../session/call-record.ts";
import type { AnswerPorts, RequestReader } from "./answer.ts";

/** What reading an approval's request needs. */
export type RequestPorts = { readonly ledger: Ledger; readonly tools: Registry; readonly digest: Digest; readonly facts?: Facts };

/** Reads requests from the ledger and builds edited ones. */
export function createRequestReader(ports: RequestPorts): RequestReader {
  return {
    load: async (row) => {
      const { request, tool } = await loadRequest(ports, row);
      return (await subjectOf(ports, request, tool)) ?? request;
    },
    partProblem: (row, part) => findPartProblem(ports, { session: row.session, preview: row.preview?.id ?? "" }, part),
    edit: async (row, answer) => {
      const { request, tool } = await loadRequest(ports, row);
      const invocation = await buildEdit({ row, answer, request, tool });
      const edited = await withFacts(ports, { ...request, input: invocation.input }, invocation.locations());
      return fingerprinted({ ...edited, binds: { ...edited.binds, ...ownBinds(tool, request.binds) } }, ports.digest);
    },
  };
}

/** Bindings that the runtime added, which facts cannot rebuild. */
function ownBinds({ definition }: Tool, binds: Request["binds"]): Request["binds"] {
  if (definition.runtimeHandler === "resolve") return binds;
  const { effect } = binds;
  return definition.preview !== undefined && effect === STAGES ? { effect } : {};
}

/** The request that rules apply to: the read behind a preview, or the effect behind `resolve`. */
async function subjectOf(ports: RequestPorts, request: Request, tool: Tool): Promise<Request | undefined> {
  const { effect, proposal } = request.binds;
  if (tool.definition.preview !== undefined && effect === STAGES) {
    const invocation = await tool.build(request.input, { cwd: request.cwd, callId: "", sessionId: "" });
    return await withFacts(ports, { ...request, tool: READING, kind: "read", binds: {} }, invocation.locations());
  }
  return tool.definition.runtimeHandler === "resolve" && proposal !== undefined ? await sourceRequest(ports, proposal) : undefined;
}

async function sourceRequest(ports: RequestPorts, id: string): Promise<Request | undefined> {
  const row = await findProposal(ports, id);
  if (!row) return undefined;
  const { input, manifest } = await readStoredProposal(ports, row);
  const { tool: name, toolDigest: recorded, kind, cwd } = row;
  if (row.carrier === "closure") {
    const pushedBy = row.callId === null ? undefined : await readCallRecord(ports.ledger, row.session, row.callId);
    const tool = applyName(pushedBy?.["call.judged"]?.tool ?? name);
    return await withFacts(ports, { tool, toolDigest: recorded, kind: "other", input, cwd, binds: {}, units: [{ subject: tool }] }, []);
  }
  const request: Request = { tool: name, toolDigest: recorded, kind, input, cwd, binds: {}, units: [{ subject: name }] };
  const touched = judgedPaths(manifest.effects).map((path) => ({ path }));
  const invocation = await ports.tools.get(name)?.build(input, { cwd, callId: row.callId ?? "", sessionId: row.session });
  return await withFacts(ports, request, touched.length > 0 ? touched : invocation?.locations());
}

export function answerPorts(deps: DispatcherDeps, tools: Registry): AnswerPorts {
  const { session, clock, ids, digest, facts, rules } = deps;
  const { ledger } = session;
  const requests = createRequestReader({ ledger, tools, digest, ...(facts && { facts }) });
  return { ledger, clock, ids, rules: rules ?? patternRules, requests };
}

type LoadedRequest = { readonly request: Request; readonly tool: Tool };

async function loadRequest(ports: RequestPorts, row: ApprovalRow): Promise<LoadedRequest> {
  const { "call.judged": judged } = await readCallRecord(ports.ledger, row.session, row.call);
  const tool = ports.tools.get(row.tool);
  if (!judged || !tool || toolDigest(tool, ports.digest) !== judged.toolDigest) {
    throw new AnswerError(
      "stale_revision",
      `Tool '${row.tool}' was changed or removed after this approval was opened. Reject it, or resume the session to close it.`,
    );
  }
  const { toolDigest: recorded, kind, input, cwd, binds } = judged;
  const request: Request = {
    tool: row.tool,
    toolDigest: recorded,
    kind,
    input,
    cwd,
    binds,
    units: [{ subject: row.tool }],
    fingerprint: row.fingerprint,
  };
  const invocation = await tool.build(input, { cwd, callId: row.call, sessionId: row.session });
  const found = await withFacts(ports, request, invocation.locations());
  return { tool, request: { ...found, binds: { ...found.binds, ...ownBinds(tool, binds) }, fingerprint: row.fingerprint } };
}

async function withFacts({ facts }: RequestPorts, request: Request, locations: readonly Location[] | undefined): Promise<Request> {
  const { fingerprint: _old, ...plain } = request;
  if (!facts) return plain;
  const { tool, kind, input, cwd } = plain;
  try {
    const found = await facts({ tool, kind, input, cwd, locations });
    return { ...plain, binds: found.binds, units: found.units };
  } catch (error) {
    throw new AnswerError(
      "bad_answer",
      `Cannot determine what '${tool}' would touch: ${messageOf(error)}. Answer without an edit or a rule.`,
      { cause: error },
    );
  }
}

type EditInput = { readonly row: ApprovalRow; readonly answer: Answer; readonly request: Request; readonly tool: Tool };

async function buildEdit({ row, answer, request, tool }: EditInput): Promise<Invocation> {
  const context = { cwd: request.cwd, callId: row.call, sessionId: row.session };
  try {
    return await tool.build(editedInput({ answer, request, tool }), context);
  } catch (error) {
    if (error instanceof AnswerError) throw error;
    throw new AnswerError("invalid_tool_params", messageOf(error), { cause: error });
  }
}

function editedInput({ answer, request, tool }: Omit<EditInput, "row">): unknown {
  if (answer.newContent === undefined) return answer.updatedInput;
  const { modify } = tool.definition;
  if (!modify)
    throw new AnswerError("not_modifiable", `The input of '${tool.name}' cannot be edited as text. Give a whole new input instead.`);
  return modify.withContent(request.input as JsonObject & Record<string, unknown>, answer.newContent);
}
