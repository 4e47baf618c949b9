import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { isObject } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, fileProblem } from "../../io/failure.ts";
import { type InputLine, inputLines } from "../../io/input-lines.ts";
import type { Io } from "../../io/io.ts";
import { jsonLine } from "../../io/output.ts";
import { buildExplanation, type ExplainContext } from "./explain-call.ts";
import { type CallToJudge, type InvalidCall, isInvalidCall, judgeCall } from "./judge-call.ts";

/** More than the longest input of a call. */
const LONGEST_LINE = 17 * 1024 * 1024;

/** Returns 1 if some lines were not calls. */
export async function explainBatch({ io }: Context, explaining: ExplainContext, name: string): Promise<number> {
  let number = 0;
  let bad = false;
  for await (const line of readLines(io, name)) {
    number += 1;
    const answer = await answerLine(line, explaining);
    const failed = "error" in answer;
    bad ||= failed;
    await io.stdout.write(jsonLine(failed ? { id: answer.id, line: number, error: answer.error } : answer));
  }
  return bad ? 1 : 0;
}

async function* readLines(io: Io, name: string): AsyncGenerator<InputLine> {
  try {
    yield* inputLines(name === "-" ? io.stdin() : createReadStream(resolve(io.cwd, name)), LONGEST_LINE);
  } catch (error) {
    const what = name === "-" ? "stdin" : `the file '${name}'`;
    const message = `assent explain: cannot read ${what}: ${fileProblem(error)}`;
    throw new CommandError("usage", 2, { message });
  }
}

type Fault = { readonly id: string | null; readonly error: { readonly type: InvalidCall["type"] | "bad_line"; readonly message: string } };

async function answerLine(line: InputLine, explaining: ExplainContext): Promise<object | Fault> {
  const call = readCall(line, explaining.cwd);
  if ("error" in call) return call;
  const { id } = call;
  const assessed = await judgeCall(explaining, call);
  return isInvalidCall(assessed)
    ? { id, error: { type: assessed.type, message: assessed.message } }
    : { id, ...(await buildExplanation(assessed, explaining)) };
}

function readCall(line: InputLine, from: string): (CallToJudge & { readonly id: string }) | Fault {
  if ("fault" in line) return badLine(null, line.fault);
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    return badLine(null, `the line is not JSON: ${error instanceof Error ? error.message.toWellFormed() : ""}`);
  }
  if (!isObject(value)) return badLine(null, "the line is not a JSON object");
  const { id, tool, input, cwd } = value;
  if (typeof id !== "string") return badLine(null, "the line has no string 'id'");
  if (typeof tool !== "string") return badLine(id, "the line has no string 'tool'");
  if (cwd !== undefined && typeof cwd !== "string") return badLine(id, "'cwd' is not a string");
  return { id, tool, input, cwd: cwd === undefined ? from : resolve(from, cwd) };
}

function badLine(id: string | null, message: string): Fault {
  return { id, error: { type: "bad_line", message } };
}
