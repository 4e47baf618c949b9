import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { createPathLookup } from "../../../src/paths/lookup.ts";
import { classify } from "../../../src/shell/effects/classify.ts";
import { type Files, hazardsOf, sampleWorkspace } from "../sample-workspace.ts";

const GIT: Files = { ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/": "", ".git/refs/": "" };

test("git's four harmless options are not among the words a rule compares", (t) => {
  const place = sampleWorkspace(t);
  const argv = ["git", "--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "log", "-5"];
  assert.deepEqual(classify(argv, place).words, ["git", "log", "-5"]);
  assert.deepEqual(classify(["ls", "--all"], place).words, ["ls", "--all"]);
});

test("a program without a row is unknown and has no hazard", (t) => {
  const argv = ["cargo", "build", "--release", "/etc", "~"];
  assert.deepEqual(classify(argv, sampleWorkspace(t)), { class: "unknown", operands: [], hazards: [], words: argv });
});

test("npm test is opaque without a hazard, since its script is bound; npm run is a hazard", (t) => {
  const place = sampleWorkspace(t);
  const { class: proven, hazards } = classify(["npm", "test"], place);
  assert.deepEqual([proven, hazards], ["opaque", []]);
  assert.deepEqual(hazardsOf(classify(["npm", "run", "test"], place)), ["opaque_program"]);
});

test("operands are resolved files with their use", (t) => {
  const place = sampleWorkspace(t, { "a.txt": "a", "link.txt": "-> a.txt" });
  const at = (name: string): string => join(place.workspace, name);
  assert.deepEqual(classify(["cat", "-n", "link.txt", "-", "/dev/null", "new.txt"], place).operands, [
    { path: at("link.txt"), real: at("a.txt"), use: "read" },
    { path: at("new.txt"), real: at("new.txt"), use: "read" },
  ]);
  assert.deepEqual(
    classify(["sed", "-i", "s/a/b/", "a.txt"], place).operands.map(({ path, use }) => [path, use]),
    [[at("a.txt"), "write"]],
  );
  assert.deepEqual(
    classify(["uniq", "a.txt", "out.txt"], place).operands.map(({ path, use }) => [path, use]),
    [
      [at("a.txt"), "read"],
      [at("out.txt"), "write"],
    ],
  );
  assert.deepEqual(
    classify(["grep", "-r", "a.txt"], place).operands.map(({ path }) => path),
    [place.workspace],
  );
  assert.deepEqual(
    classify(["grep", "-rf", "a.txt"], place).operands.map(({ path }) => path),
    [at("a.txt"), place.workspace],
  );
  assert.deepEqual(classify(["echo", "a.txt", "/etc"], place).operands, []);
});

test("a link out of the workspace is outside by any path", (t) => {
  const place = sampleWorkspace(t, { "notes/hosts": "-> /etc/hosts", vendor: "-> /usr", "in.txt": "a", alias: "-> in.txt" });
  for (const argv of [
    ["cat", "notes/hosts"],
    ["ls", "vendor"],
    ["ls", "vendor/bin"],
    ["find", "vendor"],
  ])
    assert.ok(hazardsOf(classify(argv, place)).includes("outside_workspace"), argv.join(" "));
  assert.deepEqual(hazardsOf(classify(["cat", "alias"], place)), []);
});

test("a path with .. after a link is not resolved", (t) => {
  const place = sampleWorkspace(t, { "a/b/deep/x": "x", "top/x": "x", "sub/link": "-> ../top", jump: "-> a/b/deep", "src/x": "x" });
  assert.deepEqual(hazardsOf(classify(["cat", "jump/../x"], place)), ["path_unresolved"]);
  assert.deepEqual(hazardsOf(classify(["cat", "../../x"], { ...place, cwd: join(place.workspace, "sub/link") })), ["path_unresolved"]);
  assert.deepEqual(hazardsOf(classify(["cat", "src/../top/x"], place)), []);
  assert.deepEqual(hazardsOf(classify(["cat", "../top/new"], { ...place, cwd: join(place.workspace, "src") })), []);
});

test("a dash is the input, unless a file has that name", (t) => {
  assert.deepEqual(classify(["cat", "-"], sampleWorkspace(t, {})).operands, []);
  assert.deepEqual(hazardsOf(classify(["ls", "-"], sampleWorkspace(t, { "-": "-> /etc" }))), ["outside_workspace"]);
});

test("a FIFO is not a file to read", (t) => {
  const place = sampleWorkspace(t, {});
  execFileSync("mkfifo", [join(place.workspace, "pipe")]);
  assert.ok(hazardsOf(classify(["cat", "pipe"], place)).includes("path_unresolved"));
});

test("a program that follows links below a directory stays in the workspace only if none leads outside", (t) => {
  const safe = sampleWorkspace(t, { "src/a": "a", "src/link": "-> ../README", README: "x" });
  const open = sampleWorkspace(t, { "src/a": "a", "src/deep/link": "-> /etc/passwd", "secret/link": "-> ../.env", ".env": "x" });
  for (const argv of [
    ["grep", "-R", "a", "src"],
    ["diff", "-r", "src", "src"],
    ["ls", "-LR", "src"],
    ["du", "-L", "src"],
  ]) {
    assert.deepEqual(hazardsOf(classify(argv, safe)), [], argv.join(" "));
    assert.ok(hazardsOf(classify(argv, open)).includes("outside_workspace"), argv.join(" "));
  }
  assert.deepEqual(hazardsOf(classify(["grep", "-R", "a", "secret"], open)), ["outside_workspace"]);
  assert.deepEqual(hazardsOf(classify(["grep", "-r", "a", "src"], open)), []);
});

test("an additional directory is part of the workspace", (t) => {
  const { workspace } = sampleWorkspace(t, {});
  const more = join(dirname(workspace), "more");
  mkdirSync(more);
  const look = createPathLookup({ workspace, additionalDirectories: [more] });
  assert.deepEqual(hazardsOf(classify(["ls", more], { cwd: workspace, workspace, look })), []);
  assert.deepEqual(hazardsOf(classify(["ls", more], { cwd: workspace, workspace, look: createPathLookup({ workspace }) })), [
    "outside_workspace",
  ]);
});

test("git's words before -- are files only where such a file exists", (t) => {
  const place = sampleWorkspace(t, { ...GIT, main: "x", ".env": "x" });
  const paths = (...argv: string[]): readonly string[] =>
    classify(["git", ...argv], place)
      .operands.map(({ path }) => path)
      .toSorted();
  assert.deepEqual(paths("log", "main", "HEAD~1", "--", "gone"), [join(place.workspace, "gone"), join(place.workspace, "main")]);
  assert.deepEqual(paths("log", "main..HEAD", "v1^{}"), []);
  assert.deepEqual(hazardsOf(classify(["git", "diff", ".env"], place)), ["sensitive_file"]);
});

describe("git works on the workspace's own repository only", () => {
  const status = ["git", "status"];

  test("a repository at the top, or a nested one with its own data, is fine; so is none at all", (t) => {
    const nested = sampleWorkspace(t, { ...GIT, "lib/.git/HEAD": "x", "lib/a/b": "x" });
    assert.deepEqual(hazardsOf(classify(status, nested)), []);
    assert.deepEqual(hazardsOf(classify(status, { ...nested, cwd: join(nested.workspace, "lib/a") })), []);
    assert.deepEqual(hazardsOf(classify(["git", "log"], sampleWorkspace(t, {}))), []);
  });

  test("a repository above the workspace is outside", (t) => {
    const place = sampleWorkspace(t, {});
    mkdirSync(join(dirname(place.workspace), ".git"));
    assert.deepEqual(hazardsOf(classify(status, place)), ["outside_workspace"]);
  });

  const ELSEWHERE: readonly (readonly [sentence: string, files: Files])[] = [
    [".git is a file", { ".git": "gitdir: data", "data/HEAD": "x" }],
    [".git is a link out of the workspace", { ".git": "-> /etc" }],
    ["commondir leads out of the workspace", { ...GIT, ".git/commondir": "../../elsewhere\n" }],
    ["objects are taken from outside the workspace", { ...GIT, ".git/objects/info/alternates": "# mine\n../../../elsewhere/objects\n" }],
    ...[
      ...[
        "config",
        "packed-refs",
        "shallow",
        "index",
        "info/exclude",
        "info/attributes",
        "objects/info/packs",
        "refs/heads/x",
        "logs/HEAD",
      ],
      ...["rebase-merge/head-name", "rebase-apply/onto", "sequencer/todo", "BISECT_LOG", "refs/heads", "info"],
    ].map(
      (name) => [`.git/${name} is a link out of the workspace`, { ".git/objects/": "", [`.git/${name}`]: "-> /etc/hostname" }] as const,
    ),
  ];
  for (const [sentence, files] of ELSEWHERE)
    test(sentence, (t) => assert.deepEqual(hazardsOf(classify(status, sampleWorkspace(t, files))), ["outside_workspace"]));

  test("a commondir inside the workspace is fine", (t) => {
    const place = sampleWorkspace(t, { ...GIT, ".git/commondir": "../shared\n", "shared/": "" });
    assert.deepEqual(hazardsOf(classify(status, place)), []);
  });

  test("links and objects inside the workspace are fine", (t) => {
    const files = {
      ...GIT,
      ".git/info/exclude": "-> ../../.ignored",
      ".ignored": "x",
      ".git/objects/info/alternates": "../../lib\n",
      "lib/": "",
    };
    assert.deepEqual(hazardsOf(classify(status, sampleWorkspace(t, files))), []);
  });

  test("a bare repository among the files brings its own settings", (t) => {
    const place = sampleWorkspace(t, { ...GIT, "evil/HEAD": "x", "evil/objects/": "", "evil/refs/": "" });
    assert.deepEqual(hazardsOf(classify(status, { ...place, cwd: join(place.workspace, "evil") })), ["runs_program"]);
    assert.deepEqual(hazardsOf(classify(status, { ...place, cwd: join(place.workspace, ".git") })), ["runs_program"]);
  });

  test("a missing directory is a hazard", (t) => {
    const place = sampleWorkspace(t, {});
    assert.deepEqual(hazardsOf(classify(status, { ...place, cwd: join(place.workspace, "gone") })), ["path_unresolved"]);
  });
});

test("any words can be classified", (t) => {
  const place = sampleWorkspace(t);
  const strange = [
    [],
    [""],
    ["git", ""],
    ["cat", "\0"],
    ["ls", "\n"],
    ["git", "log", "\0"],
    ["sed"],
    ["git", "log", "x".repeat(5000)],
    ["find", "!"],
    ["__proto__"],
  ];
  for (const argv of strange) assert.equal(typeof classify(argv, place).class, "string");
  assert.notDeepEqual(hazardsOf(classify(["cat", "\0"], place)), []);
  assert.notDeepEqual(hazardsOf(classify([], place)), []);
});

test("a sensitive file of the settings counts", (t) => {
  const { workspace } = sampleWorkspace(t, {});
  writeFileSync(join(workspace, "plans.txt"), "x");
  const look = createPathLookup({ workspace, sensitive: [(folded) => folded.endsWith("/plans.txt")] });
  assert.deepEqual(hazardsOf(classify(["cat", "plans.txt"], { cwd: workspace, workspace, look })), ["sensitive_file"]);
});
