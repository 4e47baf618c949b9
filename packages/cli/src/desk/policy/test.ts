import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isObject, messageOf, type Verdict } from "@assent/core";
import { parseToolInput } from "@assent/core/parts";
import type { Context } from "../../command-line/spec.ts";
import { fileProblem, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { inputFromText } from "../../tui/transcript/call-words.ts";
import { decisionSentence } from "../explain/decision-text.ts";
import { buildExplanation, type ExplainContext, openExplainParts } from "../explain/explain-call.ts";
import { isInvalidCall, judgeCall } from "../explain/judge-call.ts";

type PolicyCase = {
  readonly number: number;
  readonly tool: string;
  readonly input: unknown;
  readonly cwd: string;
  readonly expect: Verdict;
};

type FailedCase = Omit<PolicyCase, "cwd"> & { readonly actual: Verdict | "invalid"; readonly why: string };

const VERDICTS: readonly string[] = ["allow", "ask", "deny"] satisfies Verdict[];

/** Returns 1 if a call is decided differently than expected. */
export async function testPolicy(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const explaining = await openExplainParts(context);
  const cases = readCases(io.cwd, operands[0] ?? "", explaining.cwd);
  const failed: FailedCase[] = [];
  for (const one of cases) failed.push(...(await testCase(one, explaining)));
  if (options.flag("json")) await printJson(io, { tested: cases.length, failed });
  else await io.stdout.write(reportText(cases.length, failed, io.stdout.columns()));
  return failed.length > 0 ? 1 : 0;
}

/** JSON lines, or one JSON list. Every fault ends the test, because a call that is not tested would seem to pass. */
function readCases(from: string, name: string, cwd: string): readonly PolicyCase[] {
  let text: string;
  try {
    text = readFileSync(resolve(from, name), "utf8");
  } catch (error) {
    throw usageError("policy test", `cannot read '${name}': ${fileProblem(error)}`);
  }
  const written = text.trimStart().startsWith("[") ? readList(name, text) : readLines(name, text);
  if (written.length === 0) throw usageError("policy test", `'${name}' has no calls.`);
  return written.map(({ value, number }) => readCase(value, number, cwd, `${name}:${number}`));
}

type WrittenCase = { readonly value: unknown; readonly number: number };

function readList(name: string, text: string): readonly WrittenCase[] {
  return (parseJson(text, name) as readonly unknown[]).map((value, index) => ({ value, number: index + 1 }));
}

function readLines(name: string, text: string): readonly WrittenCase[] {
  return text.split("\n").flatMap((line, index) => {
    const number = index + 1;
    return line.trim() === "" ? [] : [{ value: parseJson(line, `${name}:${number}`), number }];
  });
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError("policy test", `${place}: not JSON: ${messageOf(error)}`);
  }
}

function readCase(value: unknown, number: number, cwd: string, place: string): PolicyCase {
  const refuse = (what: string): never => {
    throw usageError("policy test", `${place}: ${what}`);
  };
  if (!isObject(value)) return refuse("a call must be an object");
  const { tool, input = {}, cwd: from, expect, ...rest } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return refuse(`unknown field '${unknown}'; a call has tool, input, cwd and expect`);
  if (typeof tool !== "string") return refuse("'tool' must be a string");
  if (from !== undefined && typeof from !== "string") return refuse("'cwd' must be a string");
  if (!VERDICTS.includes(String(expect))) return refuse("'expect' must be allow, ask or deny");
  const parsed = typeof input === "string" ? parseToolInput(inputFromText(tool, input)) : { ok: true as const, value: input };
  if (!parsed.ok) return refuse(`'input' does not fit: ${parsed.message}`);
  return { number, tool, input: parsed.value, cwd: resolve(cwd, from ?? "."), expect: expect as Verdict };
}

async function testCase({ cwd, ...one }: PolicyCase, explaining: ExplainContext): Promise<readonly FailedCase[]> {
  const judged = await judgeCall(explaining, { tool: one.tool, input: one.input, cwd });
  if (isInvalidCall(judged)) return [{ ...one, actual: "invalid", why: judged.message }];
  const { verdict } = judged.decision;
  if (verdict === one.expect) return [];
  return [{ ...one, actual: verdict, why: decisionSentence(await buildExplanation(judged, explaining)) }];
}

function reportText(tested: number, failed: readonly FailedCase[], columns: number | undefined): string {
  if (failed.length === 0) return `All ${tested} calls are decided as expected.\n`;
  const rows = failed.map(({ number, tool, input, expect, actual, why }) => [String(number), tool, subjectOf(input), expect, actual, why]);
  const names = ["call", "tool", { shrinks: "input" }, "expected", "actual", "why"];
  return `${textTable(names, rows, columns)}${failed.length} of ${tested} calls are not decided as expected.\n`;
}

function subjectOf(input: unknown): string {
  const values = isObject(input) ? Object.values(input) : [];
  return values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(input);
}
