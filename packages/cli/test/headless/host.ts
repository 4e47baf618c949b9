import type { ChildProcess } from "node:child_process";
import { type Place, until } from "../support/assent.ts";

export type Line = ReturnType<typeof JSON.parse>;

/** A program that drives `assent run` by its stdin and stdout. */
export type Host = {
  readonly child: ChildProcess;
  readonly lines: Line[];
  readonly stderr: () => string;
  readonly send: (line: unknown) => void;
  /** Sends a control request and returns its response. */
  readonly ask: (subtype: string, fields?: object) => Promise<Line>;
  readonly say: (text: string, fields?: object) => void;
  /** The next matching line that no earlier call returned. */
  readonly next: (what: string, fits: (line: Line) => boolean) => Promise<Line>;
  readonly answer: (request: Line, response: unknown) => void;
  readonly end: () => Promise<number | null>;
  readonly exit: () => Promise<number | null>;
};

export const STREAM: readonly string[] = ["--input-format", "stream-json", "--output-format", "stream-json"];

const started = new Set<ChildProcess>();

/** Ends hosts left by a failed test. */
export function endHosts(): void {
  for (const child of started) child.kill("SIGKILL");
  started.clear();
}

export function startHost(at: Place, argv: readonly string[], env: Record<string, string> = {}): Host {
  const child = at.start([...argv, ...STREAM], { env });
  started.add(child);
  const lines: Line[] = [];
  let rest = "";
  let stderr = "";
  let code: number | null | undefined;
  child.stdin?.on("error", () => undefined);
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part));
  });
  child.on("close", (exit) => {
    code = exit;
  });
  let number = 0;
  const found = new Set<Line>();
  const send = (line: unknown): void => void child.stdin?.write(typeof line === "string" ? `${line}\n` : `${JSON.stringify(line)}\n`);
  const next: Host["next"] = async (what, fits) => {
    let line: Line;
    await until(
      `${what}; lines: ${lines.map((each) => `${each.type}/${each.subtype ?? each.request?.subtype ?? ""}`).join(" ")}; ${stderr}`,
      () => {
        line = lines.find((each) => !found.has(each) && fits(each));
        if (!line && code !== undefined)
          throw new Error(`it ended with ${code} before: ${what}; ${JSON.stringify(lines.at(-1))}; ${stderr}`);
        return line !== undefined;
      },
    );
    found.add(line);
    return line;
  };
  const exit = async (): Promise<number | null> => {
    await until(`the end; last line ${JSON.stringify(lines.at(-1))}; ${stderr}`, () => code !== undefined);
    return code ?? null;
  };
  return {
    child,
    lines,
    stderr: () => stderr,
    send,
    next,
    exit,
    ask: async (subtype, fields = {}) => {
      number += 1;
      const id = `h${number}`;
      send({ type: "control_request", request_id: id, request: { subtype, ...fields } });
      const { response } = await next(
        `the response to ${subtype}`,
        (line) => line.type === "control_response" && line.response.request_id === id,
      );
      return response;
    },
    say: (text, fields = {}) => send({ type: "user", message: { role: "user", content: text }, ...fields }),
    answer: (request, response) =>
      send({ type: "control_response", response: { subtype: "success", request_id: request.request_id, response } }),
    end: () => {
      child.stdin?.end();
      return exit();
    },
  };
}

export const isRequest =
  (subtype: string) =>
  (line: Line): boolean =>
    line.type === "control_request" && line.request.subtype === subtype;

export const isSystem =
  (subtype: string) =>
  (line: Line): boolean =>
    line.type === "system" && line.subtype === subtype;

export const isResult = (line: Line): boolean => line.type === "result";

/** The tool results of all lines, in order. */
export function resultsOf(lines: readonly Line[]): readonly Line[] {
  return lines
    .filter(({ type, origin }) => type === "user" && origin === "tool")
    .flatMap(({ message }) => message.content)
    .filter(({ type }) => type === "tool_result");
}
