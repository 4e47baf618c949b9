import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { DIALECTS } from "../../../../agent/test/wire/dialects.ts";
import { type ModelServer, modelServer } from "../../../../agent/test/wire/model-server.ts";
import { type Place, place } from "../../support/assent.ts";
import { openScreen } from "../../tui/support/screen.ts";

describe("a provider's failure, as people and programs are told it", () => {
  let server: Server;
  let origin = "";
  before(async () => {
    server = createServer((_, response) => void response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const HINT = "Check the model's name, and OPENAI_COMPATIBLE_BASE_URL.";
  const MODEL = ["--model", "openai-compatible:x"];
  const environment = (): Record<string, string> => ({ OPENAI_COMPATIBLE_BASE_URL: `${origin}/v1`, OPENAI_COMPATIBLE_API_KEY: "hush" });
  const message = (): string => `openai-compatible:x at ${origin}/v1/chat/completions answered 404 Not Found.`;
  const ask = (at: Place, more: readonly string[]): ReturnType<Place["here"]> =>
    at.here(["run", "go", ...MODEL, ...more], { env: environment() });

  test("in text: what failed, what to check, how to continue", async () => {
    using at = place();
    const { code, stdout, stderr } = await ask(at, []);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.deepEqual(stderr.split("\n").slice(0, 2), [`assent: ${message()}`, HINT]);
  });

  for (const format of ["json", "stream-json"])
    test(`in ${format}: the same, beside the type`, async () => {
      using at = place();
      const { stdout } = await ask(at, ["--output-format", format]);
      const result = format === "json" ? JSON.parse(stdout).at(-1) : JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      assert.deepEqual(result.error, { type: "provider_error", message: message(), hint: HINT });
    });

  test("on record: with the end of the turn, in the log and in an export", async () => {
    using at = place();
    const [, , resume = ""] = (await ask(at, [])).stderr.split("\n");
    const id = resume.split(" ").at(-1) ?? "";
    assert.ok((await at.here(["log", id, "--type", "turn.ended"])).stdout.includes(`reason=error error=${message()} turn=1`));
    assert.ok((await at.here(["sessions", "export", id])).stdout.includes(`*The request to the model failed: \`${message()}\`*`));
  });

  test("in the terminal: the same words", async () => {
    using at = place();
    using screen = openScreen({ cwd: at.workspace, env: { ...at.env, ...environment() }, args: MODEL, columns: 160, rows: 24 });
    await screen.until("? keys");
    screen.type("go\r");
    await screen.until((now) => now.replaceAll(/\s+/g, " ").includes(`${message()} ${HINT}`));
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
  });
});

describe("what a provider does to the last answer", () => {
  const chat = DIALECTS["chat completions"];
  let server: ModelServer;
  before(async () => {
    server = await modelServer();
  });
  after(() => server.close());

  test("a content filter's stop is a failure of its own, and the text so far is printed", async () => {
    using at = place();
    const filtered = chat
      .frames({ text: ["Once upon"] })
      .map((frame) => frame.replace('"finish_reason":"stop"', '"finish_reason":"content_filter"'));
    for (const format of ["text", "stream-json"]) {
      server.replies.push({ frames: filtered });
      const argv = ["run", "go", "--model", chat.id, "--output-format", format];
      const { code, stdout, stderr } = await at.here(argv, { env: { ...chat.environment(server.origin) } });
      assert.equal(code, 1, stderr);
      if (format === "text") {
        assert.equal(stdout, "Once upon\n");
        assert.match(stderr, /^assent: The provider's content filter stopped the model's last answer\.\n/);
        continue;
      }
      const { subtype, is_error, exit_code, result, error } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      assert.deepEqual(
        [subtype, is_error, exit_code, result, error.type],
        ["error_incomplete_answer", true, 1, "Once upon", "answer_refused"],
      );
    }
  });

  test("a refused connection is tried three times, not for minutes", async () => {
    using at = place();
    const closed = await modelServer();
    await closed.close();
    const argv = ["run", "go", "--model", chat.id, "--output-format", "stream-json"];
    const { code, stdout } = await at.here(argv, { env: { ...chat.environment(closed.origin) } });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const retries = lines.filter(({ subtype, code: warned }) => subtype === "warning" && warned === "provider_retry");
    assert.deepEqual([code, retries.length, lines.at(-1).error.type], [1, 2, "provider_error"], stdout);
    assert.match(lines.at(-1).error.message, /ECONNREFUSED/);
  });
});
