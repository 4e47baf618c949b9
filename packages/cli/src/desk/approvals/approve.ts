import { type Answer, type ApprovalRow, type JsonObject, PLAN_WORDS, type Remember } from "@assent/core";
import type { Context, Options } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { answerApprovalCommand } from "./answer.ts";

export function approve(context: Context): Promise<number> {
  return answer(context, "approve", approveOne);
}

export function reject(context: Context): Promise<number> {
  return answer(context, "reject", rejectOne);
}

/** Answers one approval, several, or all of a session. */
async function answer(context: Context, command: "approve" | "reject", one: (context: Context) => Promise<number>): Promise<number> {
  const { operands, options } = context;
  if (operands.length > 1 || options.text("session") !== undefined)
    return (await import("./answer-several.ts")).answerSeveral(context, { command, one });
  if (operands.length === 0) throw usageError(command, "ID is missing. See: assent approvals. Or give --session.");
  return await one(context);
}

async function approveOne(context: Context): Promise<number> {
  const { io, options } = context;
  const id = context.operands[0] ?? "";
  if (id.startsWith("q_")) return await answerQuestion(context, "answered");
  if (options.flag("answers")) throw usageError("approve", "option '--answers' is for a question, whose id begins with 'q_'.");
  if (id.startsWith("p_")) return await answerProposal(context, "apply");
  const scope = rememberScope(options);
  const edit = options.text("edit");
  const text = edit === undefined ? undefined : await (await import("../../io/read-input.ts")).readNamed(io, edit, "approve");
  const part = ["file", "hunk", "part"].find((name) => options.flag(name));
  if (part !== undefined && options.flag("run")) throw usageError("approve", `option '--${part}' needs '--write'.`);
  const [reason, fingerprint] = [options.text("reason"), options.text("fingerprint")];
  const outcome = options.text("outcome");
  if (outcome !== undefined && scope) throw usageError("approve", "options '--outcome' and '--remember' cannot be used together.");
  return answerApprovalCommand(context, async (row, { now, ledger }) => ({
    outcome: "approve",
    ...planOutcome(row, outcome),
    ...previewOutcome(row, options),
    ...(reason !== undefined && { reason }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(part !== undefined && (await (await import("./choose-part.ts")).choosePart(context, ledger, row))),
    ...(text !== undefined && { updatedInput: await parseEdit(text) }),
    ...(scope && { remember: remember(options, scope, now) }),
  }));
}

function rejectOne(context: Context): Promise<number> {
  const id = context.operands[0] ?? "";
  if (id.startsWith("p_")) return answerProposal(context, "discard");
  if (id.startsWith("q_")) return answerQuestion(context, "declined");
  const reason = context.options.text("reason");
  return answerApprovalCommand(context, async () => ({ outcome: "reject", ...(reason !== undefined && { reason }) }));
}

function planOutcome({ id, details }: Pick<ApprovalRow, "id" | "details">, word: string | undefined): Pick<Answer, "mode"> {
  const meant = Object.entries(PLAN_WORDS).find(([known]) => known === word)?.[1] ?? "default";
  if (meant === "default") return {};
  const mode = details.type !== "plan" ? undefined : meant === "previous" ? details.prePlanMode : meant;
  if (mode !== undefined) return { mode };
  throw new CommandError("bad_answer", 2, {
    message:
      details.type === "plan" ? `The mode before this plan is unknown: ${id}` : `Option '--outcome' is only for a plan; ${id} is not one.`,
    hint: "The approval is still open.",
  });
}

/** A command whose changes were previewed runs only if the person says so. */
function previewOutcome({ id, preview, state }: ApprovalRow, options: Options): Pick<Answer, "write"> {
  const [write, run] = [options.flag("write"), options.flag("run")];
  if (write && run) throw usageError("approve", "options '--write' and '--run' cannot be used together.");
  const seen = options.text("preview");
  if (seen !== undefined && !write) throw usageError("approve", "option '--preview' needs '--write'.");
  const problem =
    write && !preview
      ? "shows no preview that could be written"
      : write && !preview?.writable
        ? "shows a preview whose changes cannot be written"
        : undefined;
  if (problem !== undefined)
    throw new CommandError("bad_answer", 2, {
      message: `${id} ${problem}.`,
      hint: `The approval is still open: assent approvals show ${id}`,
    });
  const chosen = write || run || options.flag("edit") || options.flag("remember") || options.flag("outcome");
  if (state === "open" && preview?.writable && !chosen)
    throw new CommandError("bad_answer", 2, {
      message: `${id} shows what the command does on a copy. Say what to do: --write writes exactly these changes, --run runs the command.`,
      hint: `The approval is still open: assent approvals show ${id}`,
    });
  return write && preview ? { write: seen ?? preview.id } : {};
}

function rememberScope(options: Options): Remember["scope"] | undefined {
  const scope = options.text("remember");
  if (scope === "session" || scope === "project" || scope === "user") return scope;
  for (const name of ["pattern", "expires"]) {
    if (options.flag(name)) throw usageError("approve", `option '--${name}' needs '--remember session|project|user'.`);
  }
  return undefined;
}

function remember(options: Options, scope: Remember["scope"], now: number): Remember {
  const rules = options.list("pattern");
  const expires = options.duration("expires");
  return {
    scope,
    ...(rules.length > 0 && { rules }),
    ...(expires !== undefined && { expiresAt: new Date(now + expires).toISOString() }),
  };
}

async function parseEdit(text: string): Promise<JsonObject> {
  const { parseToolInput } = await import("@assent/core/parts");
  const parsed = parseToolInput(text);
  if (parsed.ok) return parsed.value;
  throw new CommandError("invalid_tool_params", 2, {
    message: `The edited input does not fit: ${parsed.message}`,
    hint: "The approval is still open.",
  });
}

async function answerQuestion(context: Context, outcome: "answered" | "declined"): Promise<number> {
  return (await import("../questions/answer.ts")).answerQuestionCommand(context, outcome);
}

async function answerProposal(context: Context, action: "apply" | "discard"): Promise<number> {
  return (await import("../proposals/answer.ts")).answerProposal(context, action);
}
