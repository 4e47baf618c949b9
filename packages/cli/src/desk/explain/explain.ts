import { parseToolInput } from "@assent/core/parts";
import { SettingsError } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { readCallInput } from "../../io/read-input.ts";
import { styleOf } from "../../io/style.ts";
import { inputFromText } from "../../tui/transcript/call-words.ts";
import { problemLines } from "../policy/problem-text.ts";
import { explainBatch } from "./batch.ts";
import { type ExplainContext, explainCall, openExplainParts } from "./explain-call.ts";

export async function explainCommand(context: Context): Promise<number> {
  const { io, options } = context;
  const work = readNamedCall(context);
  let explaining: ExplainContext;
  try {
    explaining = await openExplainParts(context);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    await io.stderr.write(problemLines(error.problems));
    return 2;
  }
  const batch = options.text("batch");
  return batch === undefined ? explainOne(context, explaining, work) : explainBatch(context, explaining, batch);
}

type NamedCall = { readonly tool: string; readonly input: string | undefined };

function readNamedCall({ options, operands: [word, text] }: Context): NamedCall {
  const [tool, input] = [either("tool", word, options.text("tool")), either("input", text, options.text("input"))];
  const batch = options.text("batch");
  if (batch === undefined && tool === undefined)
    throw usageError("explain", "name a call with TOOL and INPUT, e.g. assent explain shell 'git push', or many with --batch FILE.");
  if (batch !== undefined && (tool !== undefined || input !== undefined)) {
    throw usageError("explain", "use either --batch, or --tool and --input.");
  }
  return { tool: tool ?? "", input: text === undefined ? input : inputFromText(tool ?? "", text) };
}

function either(name: string, word: string | undefined, option: string | undefined): string | undefined {
  if (word !== undefined && option !== undefined)
    throw usageError("explain", `${name.toUpperCase()} and --${name} cannot be used together.`);
  return word ?? option;
}

async function explainOne(context: Context, explaining: ExplainContext, { tool, input }: NamedCall): Promise<number> {
  const { io, options } = context;
  const parsed = parseToolInput(await readCallInput(io, input ?? USUAL_INPUT[tool]));
  if (!parsed.ok) throw refused(context, parsed);
  const explained = await explainCall(explaining, { tool, input: parsed.value, cwd: explaining.cwd });
  if ("message" in explained) throw refused(context, explained);
  const { explanation, offers, wider, text } = explained;
  if (options.flag("json")) await printJson(io, { ...explanation, offers, ...(wider && { wider }) });
  else await io.stdout.write(text({ columns: io.stdout.columns(), style: styleOf(io.stdout, io.env) }));
  return 0;
}

const USUAL_INPUT: Readonly<Record<string, string | undefined>> = { resolve: '{"action":"apply","reason":""}' };

function refused({ options }: Context, { type, message }: { readonly type: string; readonly message: string }): CommandError {
  if (type !== "tool_not_registered") return new CommandError(type, 2, { message: `The input does not fit: ${message}` });
  const ofServer = /^There is no tool 'mcp__/i.test(message);
  const known = ofServer ? "To see the tools of your MCP servers, run: assent mcp test" : "assent tools";
  const hint = options.text("policy") === undefined ? known : "With --policy only built-in tools are known here.";
  return new CommandError(type, 4, { message, hint });
}
