import type { JsonObject, Remember } from "@assent/core";
import type { Context, Options } from "../command-line/spec.ts";
import { answerCommand } from "../desk/approvals/answer.ts";
import { planOutcome } from "../desk/approvals/plan-outcome.ts";
import { answerProposal } from "../desk/proposals/answer.ts";
import { answerQuestionCommand } from "../desk/questions/answer.ts";
import { CommandError, usageError } from "../io/failure.ts";
import { readNamed } from "../io/read-input.ts";

/** Answers yes. */
export async function run(context: Context): Promise<number> {
  const { io, options } = context;
  const id = context.operands[0] ?? "";
  if (id.startsWith("q_")) return await answerQuestionCommand(context, "answered");
  if (options.flag("answers")) throw usageError("approve", "option '--answers' is for a question, whose id begins with 'q_'.");
  if (id.startsWith("p_")) return await answerProposal(context, "apply");
  const scope = rememberScope(options);
  const edit = options.text("edit");
  const text = edit === undefined ? undefined : await readNamed(io, edit, "approve");
  const [reason, fingerprint] = [options.text("reason"), options.text("fingerprint")];
  const outcome = options.text("outcome");
  if (outcome !== undefined && scope) throw usageError("approve", "options '--outcome' and '--remember' exclude each other.");
  return answerCommand(context, async (row, now) => ({
    outcome: "approve",
    ...planOutcome(row, outcome),
    ...(reason !== undefined && { reason }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(text !== undefined && { updatedInput: await parseEdit(text) }),
    ...(scope && { remember: remember(options, scope, now) }),
  }));
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
