import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../../support/assent.ts";

const WORDS = "cust-42 has the key sk-ant-api03-AAAABBBB and PIN=1234";
const HIDDEN = "[redacted: customer] has the key [redacted: key] and PIN=[redacted: pin]";

/** A model may call anything by any name. */
const SCRIPT = JSON.stringify({ turns: [{ calls: [{ tool: WORDS, id: "c1", input: {} }] }, { say: "Done." }] });

/** The user's settings hide two things. */
function settle(at: Place): void {
  const patterns = [
    { name: "customer", prefix: "cust-" },
    { name: "pin", key: "pin" },
  ];
  mkdirSync(join(at.root, ".config", "assent", "tools"), { recursive: true });
  const settings = JSON.stringify({ redaction: { patterns } });
  writeFileSync(join(at.root, ".config", "assent", "settings.json"), settings, { mode: 0o600 });
  at.write("s.json", SCRIPT);
}

describe("redaction.patterns: no log shows them", () => {
  test("the file of ASSENT_LOG, and --verbose", async () => {
    using at = place();
    settle(at);
    const argv = ["run", "go", "--mode", "yolo", "--model", "script:s.json"];
    const filed = await at.run(argv, { env: { ASSENT_LOG: at.path("log") } });
    assert.deepEqual([filed.code, filed.stdout], [0, "Done.\n"], filed.stderr);
    const verbose = await at.run([...argv, "--verbose"]);
    for (const log of [readFileSync(at.path("log"), "utf8"), verbose.stderr]) {
      const line = log.split("\n").find((each) => each.includes(" call.proposed "));
      assert.ok(line?.includes(`tool=${JSON.stringify(HIDDEN)}`), log);
      for (const secret of ["cust-42", "sk-ant", "1234"]) assert.ok(!log.includes(secret), secret);
    }
    const [session] = (await at.hereJson(["sessions"])).value;
    assert.ok((await at.here(["log", session.id, "--json", "--raw"])).stdout.includes("cust-42"), "the record keeps what was said");
  });

  test("what a custom tool logs", async () => {
    using at = place();
    settle(at);
    const module = `export default ({ logger }) => { logger.warn(${JSON.stringify(WORDS)}); return []; };`;
    writeFileSync(join(at.root, ".config", "assent", "tools", "loud.mjs"), module);
    const { code, stderr } = await at.run(["tools"]);
    assert.equal(code, 0, stderr);
    assert.ok(stderr.endsWith(`loud.mjs: ${HIDDEN}\n`), stderr);
  });
});
