import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { CALLER, type ShellScene, shellScene } from "./shell-scene.ts";

/** What every file with a secret says, inside and outside the workspace. */
const SECRET = "sesame";

/** A line that passes without a rule, texts that it must print, and texts that it must not. */
type Row = readonly [line: string, shows: readonly string[], hides?: readonly string[]];

const ROWS: readonly Row[] = [
  [`grep -r ${SECRET} .`, ["docs/words.md", ".env.example"], [`.env:`, "id_rsa", ".ssh", "server.key", ".Env.Local"]],
  [`grep -rn ${SECRET} --include=*.md .`, ["docs/words.md"], [".env"]],
  [`grep -r --include='*' ${SECRET} . -s --`, ["docs/words.md"], [".env:", "id_rsa"]],
  [`grep -d rec ${SECRET} .`, ["docs/words.md"], [`.env:`, "id_rsa", ".ssh"]],
  [`egrep -r '${SECRET}' .`, ["docs/words.md"], ["id_rsa"]],
  [`rg --hidden --no-ignore -g '*' ${SECRET} .`, ["words.md"], [".env:", "id_rsa", ".ssh", "server.key"]],
  [`rg --iglob '*' ${SECRET} .`, ["words.md"], [".env:", "id_rsa", ".ssh", "server.key"]],
  ["diff -r one two", ["left"], [SECRET]],
  [`find . -type f -exec grep -H ${SECRET} {} +`, ["docs/words.md"], [".env:", "id_rsa", ".ssh", "server.key"]],
  [`find . -name '*' -o -name x -exec cat {} \\;`, [], [SECRET]],
  [`find . -maxdepth 1 -exec head -n 1 {} \\;`, ["# A project"], [`=${SECRET}`]],
  [`find . | xargs grep -sH ${SECRET}`, ["docs/words.md"], [".env:", "id_rsa", ".ssh", "server.key", "outside", "passwd"]],
  [`find . -print0 | xargs -0 grep -sH ${SECRET}`, ["docs/words.md"], [".env:", "id_rsa"]],
  [`find . -type f | sort | head -n 500 | xargs cat`, ["# A project"], ["=sesame", "root:"]],
  ["git ls-files -o | xargs cat", ["words of sesame"], ["=sesame", "root:"]],
  ["cat list.txt | xargs cat", ["# A project"], ["root:", "=sesame"]],
  ["xargs cat < list.txt", ["# A project"], ["root:", "=sesame"]],
  ["ls | xargs -I{} echo got {}", ["got README.md", "got list.txt"]],
  ["ls *.md", ["README.md"]],
  ["wc -l < README.md", ["3"]],
  ["[ -f README.md ] && echo there", ["there"]],
  ["[ ! -f README.md ] || echo still", ["still"]],
  ["command -v sh", ["/sh"]],
  ["git -C docs status --short", ["words.md"]],
];

let scene: ShellScene;
let outcomes: readonly { readonly outcome: string; readonly content: string }[];

before(() => {
  scene = shellScene();
  const { workspace, env, policy } = scene;
  const put = (name: string, text: string): void => {
    mkdirSync(join(workspace, name, ".."), { recursive: true });
    writeFileSync(join(workspace, name), text);
  };
  for (const name of [".env", "docs/.Env.Local", "id_rsa", ".ssh/known", "server.key", "x/secrets.yml"]) put(name, `KEY=${SECRET}\n`);
  put(".env.example", `${SECRET}\n`);
  put("docs/words.md", `words of ${SECRET}\n`);
  put("one/a.txt", "left\n");
  put("two/a.txt", "right\n");
  put("one/.env", `KEY=${SECRET}\n`);
  put("two/.env", `KEY=not ${SECRET}\n`);
  put("list.txt", "README.md\n/etc/passwd\n../outside/secret\n.env\nlinks/secret\n--help\nmissing\n");
  // Names that end one path and begin another where names are separated by blanks or lines.
  put("a /etc/passwd", "nothing\n");
  put("b\n/etc/passwd", "nothing\n");
  put("-n", "nothing\n");
  symlinkSync("/etc/passwd", join(workspace, "passwd"));
  symlinkSync(".env", join(workspace, "settings"));
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...CALLER, policy({}), ...ROWS.map(([line]) => line)], {
    cwd: workspace,
    env: { ...env, USER: "ann" },
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.equal(status, 0, stderr);
  outcomes = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
});
after(() => scene?.[Symbol.dispose]());

suite("searches that pass without a rule read no secrets and nothing outside", () => {
  for (const [i, [line, shows, hides = []]] of ROWS.entries())
    test(line, () => {
      const { outcome, content } = outcomes[i] ?? { outcome: "", content: "" };
      assert.ok(outcome === "succeeded" || outcome === "failed", `${outcome}: ${content}`);
      for (const text of shows) assert.ok(content.includes(text), `shows ${text}: ${content}`);
      for (const text of hides) assert.ok(!content.includes(text), `hides ${text}: ${content}`);
    });
});
