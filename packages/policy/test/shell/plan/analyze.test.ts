import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { getShellUnit } from "../../../src/facts/units.ts";
import { createPathLookup } from "../../../src/paths/lookup.ts";
import { type AnalyzedLine, analyzeShell } from "../../../src/shell/plan/analyze.ts";
import { PROGRAM_PATH, programFinder } from "../../../src/shell/plan/find-program.ts";
import { readPlannedLine } from "../../../src/shell/plan/planned-line.ts";
import { LONGEST_COMMAND } from "../../../src/shell/read/strict-reader.ts";
import { scratch } from "../../scratch.ts";

function workspace(t: TestContext): string {
  const root = scratch(t);
  for (const directory of ["src", "src/deep", ".git"]) mkdirSync(join(root, directory));
  for (const file of ["README.md", ".env", "src/a.ts", "src/b.ts", "src/deep/c.ts"]) writeFileSync(join(root, file), `${file}\n`);
  writeFileSync(join(root, "package.json"), '{"scripts":{"test":"node --test"}}');
  writeFileSync(join(root, "build.sh"), "echo one\n");
  symlinkSync("/etc", join(root, "out"));
  return root;
}

function analyse(text: string, root: string): AnalyzedLine {
  return analyzeShell(text, {
    cwd: root,
    workspace: root,
    home: "/home/nobody",
    look: createPathLookup({ workspace: root }),
    findProgram: programFinder({ path: PROGRAM_PATH, workspace: root }),
  });
}

const hazardsOf = ({ line: { plan } }: AnalyzedLine): readonly string[] =>
  [...new Set([...plan.hazards, ...plan.commands.flatMap(({ hazards }) => hazards)].map(({ id }) => id))].sort();

describe("a line on which both readers agree is modelled", () => {
  const rows: readonly [text: string, shape: string, argv: readonly (readonly string[])[]][] = [
    ["ls", "argv", [["ls"]]],
    ["  ls   -la   src # look", "argv", [["ls", "-la", "src"]]],
    ["cat 'a b' \"c d\" e\\ f", "argv", [["cat", "a b", "c d", "e f"]]],
    ["ls && pwd || echo no; true\nfalse | cat", "list", [["ls"], ["pwd"], ["echo", "no"], ["true"], ["false"], ["cat"]]],
    ["ls 2>/dev/null | wc -l", "list", [["ls"], ["wc", "-l"]]],
    ["ls src/*.ts", "argv", [["ls", "src/a.ts", "src/b.ts"]]],
    ["ls src/*.none", "argv", [["ls", "src/*.none"]]],
    ["grep 'a\\\n b' README.md", "argv", [["grep", "a\\\n b", "README.md"]]],
  ];
  for (const [text, shape, argv] of rows) {
    test(JSON.stringify(text), (t) => {
      const { line, planned } = analyse(text, workspace(t));
      assert.deepEqual([line.plan.modelled, line.plan.shape], [true, shape]);
      assert.deepEqual(
        line.plan.commands.map((command) => command.argv.map((word) => word.text)),
        argv,
      );
      assert.deepEqual(
        readPlannedLine(planned)?.commands?.map((command) => command.argv),
        argv,
      );
    });
  }
});

describe("any other line is text, and nothing runs from its plan", () => {
  const rows: readonly [text: string, hazard: string][] = [
    ["ls $TOKEN", "expansion"],
    ["ls $(pwd)", "substitution"],
    ["ls `pwd`", "substitution"],
    ["FOO=1 ls", "assignment"],
    ["ls > out.txt", "redirection"],
    ["ls &", "background"],
    ["ls {a,b}", "brace_or_glob"],
    ["rm *", "brace_or_glob"],
    ["(ls)", "unmodelled_construct"],
    ["if true; then ls; fi", "unmodelled_construct"],
    ["ls 'open", "unparsed"],
    ["ls caf\u00e9", "unmodelled_construct"],
    ["ls \u202e", "hidden_character"],
    ["cat < /dev/tcp/example.test/80", "network_redirection"],
  ];
  for (const [text, hazard] of rows) {
    test(`${JSON.stringify(text)}: ${hazard}`, (t) => {
      const analysed = analyse(text, workspace(t));
      assert.equal(analysed.line.plan.modelled, false);
      assert.equal(analysed.line.plan.shape, "text");
      assert.ok(hazardsOf(analysed).includes(hazard), hazardsOf(analysed).join(" "));
      assert.equal(readPlannedLine(analysed.planned)?.commands, undefined);
      assert.equal(analysed.line.readOnly, false);
    });
  }
});

describe("a line is read-only if all of its commands only read", () => {
  const rows: readonly [text: string, readOnly: boolean][] = [
    ["git log -5", true],
    ["cat README.md | head -1 && ls src", true],
    ["cat .env", false],
    ["cat out/passwd", false],
    ["cat ../x", false],
    ["npm test", false],
    ["make lint", false],
    ["ls; touch x", false],
    ["timeout 5 ls", false],
    ["# nothing", false],
  ];
  for (const [text, readOnly] of rows)
    test(`${text}: ${readOnly}`, (t) => assert.equal(analyse(text, workspace(t)).line.readOnly, readOnly));
});

describe("an opaque program that reads a pipe is a hazard", () => {
  for (const text of ["cat README.md | python3", "ls | xargs rm", "echo x | node", "cat a | make", "ls | env cat"]) {
    test(text, (t) => assert.ok(analyse(text, workspace(t)).line.plan.hazards.some(({ id }) => id === "pipe_to_shell")));
  }
  for (const text of ["npm test | tail -5", "make lint 2>&1 | head"]) {
    test(`${text}: it is the one that feeds`, (t) => assert.deepEqual(analyse(text, workspace(t)).line.plan.hazards, []));
  }
});

describe("the directory of a command", () => {
  const rows: readonly [text: string, cwds: readonly (string | null)[]][] = [
    ["cd src && ls", ["", "src"]],
    ["cd src; ls; cd deep; ls", ["", "src", "src", "src/deep"]],
    ["cd src\nls", ["", "src"]],
    ["true && cd src && ls", ["", "", "src"]],
    ["true && cd src; ls", ["", "", null]],
    ["true || cd src && ls", ["", "", null]],
    ["cd src || ls", ["", null]],
    ["cd src | ls", ["", ""]],
    ["cd none && ls", ["", null]],
    ["cd out && ls", ["", null]],
    ["cd .. && ls", ["", null]],
    ["cd - && ls", ["", null]],
    ["cd && ls", ["", null]],
    ["cd src/../src && ls", ["", "src"]],
  ];
  for (const [text, cwds] of rows) {
    test(JSON.stringify(text), (t) => {
      const root = workspace(t);
      const { line, planned } = analyse(text, root);
      assert.deepEqual(
        line.plan.commands.map(({ cwd }) => cwd),
        cwds.map((cwd) => (cwd === null ? null : join(root, cwd))),
      );
      if (cwds.includes(null))
        assert.equal(readPlannedLine(planned)?.commands, undefined, "a line with an unknown place is not run from its plan");
    });
  }

  test("an operand is relative to the directory of its command", (t) => {
    const root = workspace(t);
    assert.deepEqual(hazardsOf(analyse("cd src && cat a.ts", root)), []);
    assert.deepEqual(hazardsOf(analyse("cd src/deep && cat ../../../x", root)), ["outside_workspace"]);
    assert.deepEqual(hazardsOf(analyse("cd src && cat ../.env", root)), ["sensitive_file"]);
  });
});

describe("text that is not parsed", () => {
  test("a text beyond the limit is one unit without a command", (t) => {
    const { line, units } = analyse(`echo ${"x".repeat(LONGEST_COMMAND)}`, workspace(t));
    assert.deepEqual([line.tooLong, line.plan.commands.length, units.length], [true, 0, 1]);
    assert.deepEqual(
      line.plan.hazards.map(({ id }) => id),
      ["too_long"],
    );
  });
  for (const text of ["", "  \n", "a\0b", "\ud800"]) {
    test(`${JSON.stringify(text)} is malformed`, (t) => assert.equal(analyse(text, workspace(t)).line.malformed, true));
  }
});

describe("scripts that a line is bound to", () => {
  test("a script operand, by its bytes", (t) => {
    const root = workspace(t);
    const [before] = analyse("sh build.sh", root).scripts;
    writeFileSync(join(root, "build.sh"), "echo two\n");
    const [after] = analyse("sh build.sh", root).scripts;
    assert.equal(before?.file, "build.sh");
    assert.notEqual(before?.digest, after?.digest);
  });
  for (const text of ["bash -e build.sh", "./build.sh", "cd src; sh ../build.sh", "env FOO=1 sh build.sh", "sh < build.sh"]) {
    test(`${text}`, (t) =>
      assert.deepEqual(
        analyse(text, workspace(t)).scripts.map(({ file }) => file),
        ["build.sh"],
      ));
  }
  const several: readonly [text: string, files: readonly string[]][] = [
    ["cd src && sh x.sh && cd deep && sh x.sh", ["src/x.sh", "src/deep/x.sh"]],
    ["sh x.sh; cd src; sh x.sh", ["x.sh", "src/x.sh"]],
    ["(cd src; sh x.sh)", ["x.sh", "src/x.sh"]],
    ["node -r ./x.js y.js data.json", ["x.js", "y.js"]],
  ];
  for (const [text, files] of several) {
    test(`${text} is bound to ${files.join(" and ")}`, (t) =>
      assert.deepEqual(
        analyse(text, workspace(t)).scripts.map(({ file }) => file),
        files,
      ));
  }
  test("a missing, too large or special file is bound as such", (t) => {
    const root = workspace(t);
    const digest = (): string | undefined => analyse("sh large.sh", root).scripts[0]?.digest;
    const resize = (size: number): void => {
      writeFileSync(join(root, "large.sh"), "");
      truncateSync(join(root, "large.sh"), size);
    };
    assert.equal(digest(), "absent");
    resize(16 * 1024 * 1024);
    assert.match(digest() ?? "", /^sha256:/u);
    resize(16 * 1024 * 1024 + 1);
    assert.equal(digest(), "too large to read: 16777217 bytes");
    rmSync(join(root, "large.sh"));
    mkdirSync(join(root, "large.sh"));
    assert.equal(digest(), "no regular file");
  });
  test("code on the command line is not bound", (t) => assert.deepEqual(analyse("sh -c 'echo build.sh'", workspace(t)).scripts, []));
  test("npm test is bound to the package's scripts", (t) => {
    const root = workspace(t);
    const digest = (): string | undefined => {
      const [unit] = analyse("npm test", root).units;
      return unit && getShellUnit(unit)?.script?.digest;
    };
    const before = digest();
    writeFileSync(join(root, "package.json"), '{"scripts":{"test":"curl x"}}');
    assert.ok(before);
    assert.notEqual(digest(), before);
  });
});

test("the plan's digest covers only what would run", (t) => {
  const root = workspace(t);
  const digest = (text: string): string => analyse(text, root).line.plan.digest;
  assert.equal(digest("ls  -la"), digest("ls -la"));
  assert.equal(digest("ls '-la'"), digest("ls -la"));
  assert.notEqual(digest("ls -la"), digest("ls -l"));
  assert.notEqual(digest("ls; pwd"), digest("ls && pwd"));
  assert.notEqual(digest("ls 2>/dev/null"), digest("ls"));
  assert.notEqual(digest("cd src; ls"), digest("ls"));
});

describe("touched paths are those that the system resolves", () => {
  for (const text of ["echo x | tee src/link/../config", "cd src/link && tee ../config", "cp a src/link/../config"]) {
    test(text, (t) => {
      const root = workspace(t);
      mkdirSync(join(root, ".git/hooks"));
      symlinkSync("../.git/hooks", join(root, "src/link"));
      const touched = analyse(text, root).units.flatMap((unit) => getShellUnit(unit)?.touched ?? []);
      assert.ok(touched.flatMap(({ places }) => places).includes(join(root, ".git/config").toLowerCase()), JSON.stringify(touched));
    });
  }
});

describe("the directory of a command inside a wrapper", () => {
  const rows: readonly [text: string, cwds: readonly (string | null)[]][] = [
    ["env -C src ls", ["", "src"]],
    ["env -C src env -C deep ls", ["", "src", "src/deep"]],
    ["cd src && env -C deep ls", ["", "src", "src/deep"]],
    ["env -C src sh -c 'ls; pwd'", ["", "src", "src", "src"]],
    ["env -C $X ls", ["", null]],
    ["chroot src ls", ["", null]],
    ["find . -execdir ls ';'", ["", null]],
    ["env -C src sh -c 'cd deep; ls'", ["", "src", null, null]],
  ];
  for (const [text, cwds] of rows) {
    test(text, (t) => {
      const root = workspace(t);
      const { line } = analyse(text, root);
      assert.deepEqual(
        line.plan.commands.map(({ cwd }) => cwd),
        cwds.map((cwd) => (cwd === null ? null : join(root, cwd))),
      );
      assert.ok(hazardsOf({ line } as AnalyzedLine).includes("cwd_unknown"));
    });
  }
});
