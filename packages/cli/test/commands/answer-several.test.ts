import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

const TURNS = 'turns:\n  - calls: [{ tool: shell, input: { command: "npm run a" } }, { tool: shell, input: { command: "npm run b" } }]\n';

async function parked(at: Place): Promise<{ readonly ids: readonly string[]; readonly session: string }> {
  await at.here(["run", "go", "--on-ask", "park", "--model", `script:${at.write("s.yaml", TURNS)}`]);
  const { value } = await at.hereJson(["approvals"]);
  return { ids: value.map(({ id }: { id: string }) => id), session: value[0].sessionId };
}

async function states(at: Place): Promise<readonly string[]> {
  return (await at.hereJson(["approvals", "--all"])).value.map(({ state }: { state: string }) => state);
}

describe("answering several at once", () => {
  test("two ids with --yes are approved, each with its own record", async () => {
    using at = place();
    const { ids } = await parked(at);
    const { code, stdout } = await at.here(["approve", ...ids, "--yes"]);
    assert.equal(code, 0);
    for (const id of ids) assert.match(stdout, new RegExp(`${id}  approved`));
    assert.deepEqual(await states(at), ["approved", "approved"]);
  });
  test("a whole session is rejected with one reason", async () => {
    using at = place();
    const { session } = await parked(at);
    assert.equal((await at.here(["reject", "--session", session, "--yes", "--reason", "no"])).code, 0);
    assert.deepEqual(await states(at), ["rejected", "rejected"]);
  });
  const refused = [
    ["without --yes and a terminal", (ids: readonly string[]) => [...ids], /give '--yes'/],
    ["with an edit, which is for one", (ids: readonly string[]) => [...ids, "--yes", "--edit", "-"], /'--edit' is for one approval/],
    ["with an unknown id among them", (ids: readonly string[]) => [...ids, "a_unknown", "--yes"], /There is no approval 'a_unknown'/],
    ["without an id or a session", () => [], /ID is missing/],
  ] as const;
  for (const [name, words, message] of refused)
    test(`nothing is answered ${name}`, async () => {
      using at = place();
      const { ids } = await parked(at);
      const { code, stderr } = await at.here(["approve", ...words(ids)]);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
      assert.deepEqual(await states(at), ["open", "open"]);
    });
  test("if one was answered meanwhile, the others are not answered", async () => {
    using at = place();
    const { ids } = await parked(at);
    await at.here(["reject", ids[0] ?? ""]);
    const { code, stderr } = await at.here(["approve", ...ids, "--yes"]);
    assert.equal(code, 1);
    assert.match(stderr, /No longer open/);
    assert.deepEqual(await states(at), ["rejected", "open"]);
  });
});
