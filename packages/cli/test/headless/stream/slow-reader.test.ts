import assert from "node:assert/strict";
import { test } from "node:test";
import { place, until } from "../../support/assent.ts";

const WORDS = 12_000;
const TURNS = 8;

/** Far less than the output, so buffering it would fail. */
const HEAP_MB = 110;

test("a reader who does not read holds the run back, without growing its memory; all lines are whole", async () => {
  using at = place();
  const say = "word ".repeat(WORDS);
  const turn = { say, calls: [{ tool: "list", input: { path: "." } }] };
  const turns = [...Array.from({ length: TURNS }, (_, n) => ({ ...turn, calls: [{ ...turn.calls[0], id: `c${n}` }] })), { say: "end" }];
  at.write("s.json", JSON.stringify({ turns }));
  const argv = ["run", "go", "--model", "script:s.json", "--output-format", "stream-json", "--include-partial-messages"];
  const settings = at.write("p.json", JSON.stringify({ maxConsecutiveToolCalls: 100 }));
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` };
  const child = at.start([...argv, "--policy", settings], { env });
  child.stdin?.end();
  let stderr = "";
  child.stderr?.on("data", (text: Buffer) => {
    stderr += text;
  });
  const sessionOf = async (): Promise<string | undefined> => (await at.hereJson(["sessions"])).value[0]?.id;
  await until(`the run has begun: ${stderr}`, async () => (await sessionOf()) !== undefined);
  const session = (await sessionOf()) ?? "";
  const begun = async (): Promise<number> => (await at.here(["log", session, "--type", "turn.started"])).stdout.split("\n").length - 1;
  await until("its first turn", async () => (await begun()) > 0);
  for (let looks = 0; looks < 5; looks += 1) assert.equal(await begun(), 1, "there is no reader, so the first answer is still coming");
  let bytes = 0;
  let lines = 0;
  let rest = "";
  let last = "";
  let code: number | null | undefined;
  child.on("close", (exit) => {
    code = exit;
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    bytes += text.length;
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      assert.ok(line.startsWith("{") && line.endsWith("}"));
      lines += 1;
      last = line;
    }
  });
  await until(`its end: ${stderr}`, () => code !== undefined, 100_000);
  assert.deepEqual([code, rest, JSON.parse(last).type], [0, "", "result"], stderr.slice(-500));
  assert.ok(lines > WORDS * TURNS, `${lines} lines, ${bytes} bytes`);
});
