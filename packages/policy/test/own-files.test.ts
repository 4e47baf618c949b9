import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Kind, Request } from "@assent/core";
import { ownFilesGuards } from "../src/own-files.ts";
import { pathFacts } from "../src/path-facts.ts";
import { scratch } from "./scratch.ts";

async function judge(root: string, kind: Kind, what: { path?: string; input?: Request["input"] }) {
  const guards = ownFilesGuards({
    stateDirectory: join(root, "home/state/assent"),
    settingsFiles: [join(root, "home/.config/assent/settings.json")],
  });
  const facts = pathFacts({ workspace: join(root, "ws"), readable: [join(root, "home/state/assent/output/s_1")] });
  const input = what.input ?? {};
  const cwd = join(root, "ws");
  const found = await facts({ tool: "t", kind, input, cwd, locations: what.path === undefined ? [] : [{ path: what.path }] });
  const request: Request = { tool: "t", toolDigest: "", kind, input, cwd, binds: found.binds, units: found.units };
  const opinions = found.units.flatMap((unit) => guards.map((guard) => ({ id: guard.id, ...guard.check(request, unit) })));
  return opinions.filter(({ verdict }) => verdict !== "none").map(({ id, verdict }) => `${id} ${verdict}`);
}

function makePlace(root: string): void {
  for (const directory of ["ws/.assent/plans", "home/state/assent/output/s_1", "home/.config/assent"])
    mkdirSync(join(root, directory), { recursive: true });
  symlinkSync(".assent", join(root, "ws/alias"));
  symlinkSync("../home/state/assent", join(root, "ws/elsewhere"));
  symlinkSync("..", join(root, "ws/.assent/plans/up"));
  symlinkSync("loop", join(root, "ws/loop"));
  mkdirSync(join(root, "ws/linked"));
  symlinkSync("../../home", join(root, "ws/linked/.assent"));
}

const DENY = ["own-files deny"];
const NONE: readonly string[] = [];
const PATHS: readonly (readonly [name: string, kind: Kind, path: string, opinions: readonly string[]])[] = [
  ["E6: editing the project's settings", "edit", ".assent/settings.json", DENY],
  ["S19: in another case", "edit", ".Assent/Settings.json", DENY],
  ["with trailing dots", "edit", ".assent./settings.json", DENY],
  ["a file of .assent that does not exist yet", "edit", ".assent/hooks/new.sh", DENY],
  ["a nested .assent", "edit", "sub/.assent/settings.json", DENY],
  [".assent as a whole", "delete", ".assent", DENY],
  ["through a link", "edit", "alias/settings.json", DENY],
  ["a .assent that is a link to somewhere else", "edit", "linked/.assent/settings.json", DENY],
  ["a plan", "edit", ".assent/plans/today.md", NONE],
  ["the directory of plans as a whole", "delete", ".assent/plans", DENY],
  ["out of the plans by dots", "edit", ".assent/plans/../settings.json", DENY],
  ["out of the plans by a link", "edit", ".assent/plans/up/settings.json", DENY],
  ["a .assent among the plans", "edit", ".assent/plans/.assent/settings.json", DENY],
  ["a plan below another .assent", "edit", ".assent/x/.assent/plans/a.md", DENY],
  ["reading the project's settings", "read", ".assent/settings.json", NONE],
  ["a name that only looks alike", "edit", ".assent-notes/a.md", NONE],
  ["S18: editing the user's settings", "edit", "../home/.config/assent/settings.json", DENY],
  ["reading the user's settings", "read", "../home/.config/assent/settings.json", NONE],
  ["S18: editing the ledger", "edit", "../home/state/assent/ledger.db", DENY],
  ["reading the ledger", "read", "../home/state/assent/ledger.db", DENY],
  ["searching the state directory", "search", "../home/STATE/assent", DENY],
  ["the state directory through a link", "read", "elsewhere/ledger.db", DENY],
  ["a tool of unknown kind", "other", "elsewhere/trust.json", DENY],
  ["reading the session's own output", "read", "../home/state/assent/output/s_1/c1.txt", NONE],
  ["writing to the session's own output", "edit", "../home/state/assent/output/s_1/c1.txt", DENY],
  ["reading another session's output", "read", "../home/state/assent/output/s_2/c1.txt", DENY],
  ["PT7: writing where nobody can tell where it leads", "edit", "loop/x", ["deny-in-doubt ask"]],
  ["reading where nobody can tell where it leads", "read", "loop/x", NONE],
  ["an ordinary file", "edit", "src/a.ts", NONE],
];
for (const [name, kind, path, opinions] of PATHS) {
  test(`${name} (${kind}): ${opinions[0] ?? "no opinion"}`, async (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.deepEqual(await judge(root, kind, { path }), opinions);
  });
}

test("a shell line that spells out the state directory is denied, in any case, wherever it stands", async (t) => {
  const root = scratch(t);
  makePlace(root);
  const state = join(root, "home/state/assent");
  assert.deepEqual(await judge(root, "execute", { input: { command: `ls; cat '${state}/ledger.db'` } }), DENY);
  assert.deepEqual(await judge(root, "execute", { input: { command: `cat ${state.toUpperCase()}` } }), DENY);
  assert.deepEqual(await judge(root, "execute", { input: { command: "ls", cwd: state } }), DENY);
  assert.deepEqual(await judge(root, "execute", { input: { command: "ls /home" } }), NONE);
});
