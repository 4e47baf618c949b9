import { readFileSync } from "node:fs";
import { join } from "node:path";
import { playScript, readScript, type Script, ScriptError, ScriptFailure } from "@assent/agent";
import type { Clock } from "@assent/core";
import { lines, structure, tokens } from "../mutate.ts";
import { holds, type Target } from "../target.ts";

const ROOT = join(import.meta.dirname, "../../..");
const FILE = "script.yaml";

const WORDS =
  "turns say calls tool input id raw error status message delayMs usage inputTokens outputTokens cachedInputTokens truncated expect toolChoice result results call outcome type contains notContains reminders notices tools has hasNot model allowUnused capability named required auto agents &a *a << !!binary !!set !!omap !!int !!float .nan .inf 0x10 ~ null - ? | > --- ... %YAML".split(
    " ",
  );

/** Every wait is over at once. */
const HASTY: Clock = {
  now: () => 0,
  timer: (_ms, fire) => {
    queueMicrotask(fire);
    return () => undefined;
  },
};

/** Scripts of models: any bytes are a model, or an error that says where. */
export function scripts(): Target {
  return {
    name: "scripts",
    iterations: 1_000,
    seeds: ["packages/cli/src/demo/script.yaml", "examples/headless/edit.yaml"].flatMap(textOf),
    mutators: [
      lines(["turns:", "- say: x", "  calls:", "agents: { helper: { turns: [] } }"]),
      tokens(WORDS),
      tokens(WORDS),
      structure(WORDS),
    ],
    check,
    [Symbol.dispose]: () => undefined,
  };
}

function textOf(path: string): readonly string[] {
  try {
    return [readFileSync(join(ROOT, path), "utf8")];
  } catch {
    return [];
  }
}

async function check(input: Buffer): Promise<void> {
  const text = input.toString("utf8");
  const script = read(text);
  if (!script) return;
  holds("what is read twice is read alike", JSON.stringify(script) === JSON.stringify(read(text)), () => JSON.stringify(script));
  const player = playScript(script, HASTY);
  await play(() => player.model(), script.turns.length);
  for (const [name, agent] of Object.entries(script.agents ?? {})) await play(() => player.agent(name), agent.turns.length);
  expected(() => player.assertUsed());
}

function read(text: string): Script | undefined {
  try {
    return readScript(text, FILE);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    const { line, message } = error;
    const count = text.split(/\r\n|\n/).length;
    holds(
      "an error names a line of the file",
      message.startsWith(`${FILE}:${line}: `) && line >= 1 && line <= count,
      () => `${message} of ${count}`,
    );
    holds("an error says something, on one line", /: \S/.test(message) && !message.includes("\n"), () => JSON.stringify(message));
    return undefined;
  }
}

type Model = ReturnType<ReturnType<typeof playScript>["model"]>;

const OPTIONS: Parameters<Model["doStream"]>[0] = { prompt: [{ role: "user", content: [{ type: "text", text: "Go on." }] }] };
const MOST_TURNS = 8;

/** A turn fails by what the script says, and by nothing else. */
async function play(open: () => Model, turns: number): Promise<void> {
  const model = open();
  for (let turn = 0; turn <= Math.min(turns, MOST_TURNS); turn += 1) {
    try {
      const { stream } = await model.doStream(OPTIONS);
      for await (const part of stream) if (part.type === "tool-call") JSON.stringify(part);
    } catch (error) {
      expected(() => {
        throw error;
      });
    }
  }
}

function expected(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ScriptFailure) && !(error instanceof Error && error.name === "AI_APICallError")) throw error;
  }
}
