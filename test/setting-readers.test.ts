import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SETTINGS } from "../packages/policy/src/settings/settings.ts";

const ROOT = fileURLToPath(new URL("../packages/", import.meta.url));
const TABLE = "policy/src/settings/settings.ts";
const LOADING = "policy/src/settings/load-policy.ts";

/** Says that a value has changed, which nobody would notice of one that nothing acts on. */
const REVISION = /\nfunction revisionText\([\s\S]*?\n}\n/;

type Source = { readonly file: string; readonly text: string };

function sources(): readonly Source[] {
  return readdirSync(ROOT, { recursive: true, encoding: "utf8" })
    .filter((file) => /^\w+\/src\/.*\.ts$/.test(file) && file !== TABLE)
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8").replace(REVISION, "\n") }));
}

/** The files in which the effective value of a key is taken out of the settings. */
function readersOf(key: string, from: readonly Source[]): readonly string[] {
  const named = key.replaceAll(".", "\\.");
  const taken = key.includes(".")
    ? `"${named}"`
    : String.raw`\bsettings(?:\(\))?(?:\?)?\.${named}\b|\{[^{}]*\b${named}\b[^{}]*\}\s*=\s*[^;\n]*\bsettings\b`;
  const pattern = new RegExp(taken);
  return from.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
}

/** The keys that docs/settings.md marks "not used yet". */
function unusedKeys(): readonly string[] {
  const page = readFileSync(fileURLToPath(new URL("../docs/settings.md", import.meta.url)), "utf8");
  return [...page.matchAll(/^\| `([\w.]+)` \|.*\| not used yet \|$/gm)].flatMap(([, key]) => key ?? []);
}

describe("a setting that nobody reads would look as if it did something", () => {
  const all = sources();
  const unread = unusedKeys();
  for (const [key, { merge }] of Object.entries(SETTINGS)) {
    if (merge === "rules" || merge === "hooks" || key === "version") continue; // compiled by what they are, or checked where they are read
    if (unread.includes(key)) test(`${key} has no reader, as its page says`, () => assert.deepEqual(readersOf(key, all), []));
    else test(`${key} has a reader`, () => assert.notDeepEqual(readersOf(key, all), []));
  }

  test("to say that a value changed is not to read it", () => {
    const text = readFileSync(join(ROOT, LOADING), "utf8");
    assert.match(text, REVISION);
    assert.deepEqual(
      readersOf("a.b", [{ file: "x", text: '\nfunction revisionText() {\n  return settings["a.b"];\n}\n'.replace(REVISION, "") }]),
      [],
    );
  });

  const ROWS: readonly [text: string, key: string, isRead: boolean][] = [
    ['source.settings()["a.b"]', "a.b", true],
    ['const { "a.b": ab } = settings;', "a.b", true],
    ["policy.source.settings().editor", "editor", true],
    ["const { mode, editor } = policy.source.settings();", "editor", true],
    ["const { editor } = parts;", "editor", false],
    ["parts.editor", "editor", false],
    ['source.settings()["a.bc"]', "a.b", false],
  ];
  for (const [text, key, isRead] of ROWS)
    test(`${text} ${isRead ? "reads" : "does not read"} ${key}`, () =>
      assert.equal(readersOf(key, [{ file: "x", text }]).length > 0, isRead));
});
