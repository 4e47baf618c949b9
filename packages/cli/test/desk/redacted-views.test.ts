import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { place } from "../support/assent.ts";

const SECRET = "sk-abcdefghijklmnop1234567890";
const TURNS = `turns:
  - calls:
      - { tool: write, input: { file_path: a.env, content: "API_KEY=${SECRET}" } }
      - { tool: shell, input: { command: "curl -H 'Authorization: Bearer ${SECRET}' https://example.test" } }
      - { tool: read, input: { file_path: "missing-${SECRET}" } }
`;

describe("a secret in a command, a file and an error", () => {
  test("is absent from every view that hides secrets, and present with --raw", async () => {
    using at = place();
    await at.here(["run", "go", "--on-ask", "park", "--model", `script:${at.write("s.yaml", TURNS)}`]);
    const [{ id }] = (await at.hereJson(["sessions"])).value;
    const views = [["log"], ["log", "--json"], ["log", id], ["sessions", "export", id], ["sessions", "export", id, "--format", "jsonl"]];
    for (const view of views) {
      const { stdout, code } = await at.here(view);
      assert.equal(code, 0, view.join(" "));
      assert.ok(!stdout.includes(SECRET), view.join(" "));
      assert.ok(!stdout.includes(SECRET.slice(3)), view.join(" "));
    }
    for (const view of views.slice(3)) assert.ok((await at.here([...view, "--raw"])).stdout.includes(SECRET), `${view.join(" ")} --raw`);
  });
});
