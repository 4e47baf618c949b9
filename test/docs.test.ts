import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";

const ROOT = join(import.meta.dirname, "..");

/** Everything that is or would be committed; a build product is neither. */
const FILES: readonly string[] = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\0")
  .filter((file) => file !== "" && existsSync(join(ROOT, file)));

const DOCUMENTS = FILES.filter((file) => file.endsWith(".md") && !file.startsWith("packages/"));

describe("documents", () => {
  test("the ones a reader looks for are there", () => {
    const wanted = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "SECURITY.md", "CHANGELOG.md", "LICENSE"];
    assert.deepEqual(
      wanted.filter((file) => !FILES.includes(file)),
      [],
    );
  });

  for (const document of DOCUMENTS) {
    test(`links of ${document} lead somewhere`, () => {
      const broken = links(read(document)).filter((to) => !leadsSomewhere(document, to));
      assert.deepEqual(broken, []);
    });

    test(`paths that ${document} names exist`, () => {
      assert.deepEqual(
        paths(read(document)).filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, "packages", path))),
        [],
      );
    });

    test(`TypeScript in ${document} is an example that the tests run`, () => {
      for (const block of typescriptBlocks(read(document))) {
        const [, file, code] = /^\/\/ (examples\/\S+\.ts)\n([\s\S]*)$/.exec(block) ?? [];
        assert.ok(file !== undefined && code !== undefined, `begin the block with "// examples/NAME.ts":\n${block}`);
        assert.ok(FILES.includes(file), `${file} does not exist`);
        assert.equal(code.trim(), read(file).trim(), `the block differs from ${file}`);
      }
    });
  }

  test("the reader of links and blocks sees what it should", () => {
    assert.deepEqual(links("[a](b.md) and [c](d.md#e), ![f](g.png)\n```\n[h](i.md)\n```\n`[j](k.md)`"), ["b.md", "d.md#e", "g.png"]);
    assert.deepEqual(paths("`core/src/a.ts`, `docs/NNNN.md`, `test/*.ts` and `tools/src/`"), ["core/src/a.ts", "tools/src/"]);
    assert.deepEqual(typescriptBlocks("```ts\n// examples/a.ts\nx;\n```\n```sh\ny\n```\n```typescript\nz;\n```"), [
      "// examples/a.ts\nx;\n",
      "z;\n",
    ]);
  });

  test("the README tests with the command that continuous integration runs", () => {
    assert.match(read("README.md"), /^npm cit$/m);
    assert.match(read(".ci/run"), /^npm cit$/m);
  });

  test("the changelog has a place for what comes next", () => assert.match(read("CHANGELOG.md"), /^## \[Unreleased\]$/m));

  test("CONTRIBUTING starts with the command", () => {
    assert.match(read("CONTRIBUTING.md"), /^# Contributing\n\n```(?:sh)?\nnpm ci && npm test\n```\n/);
  });
});

describe("decisions", () => {
  const decisions = FILES.filter((file) => file.startsWith("docs/decisions/")).sort();

  test("are numbered without a gap, and named by what was decided", () => {
    assert.ok(decisions.length > 0);
    const numbers = decisions.map((file) => /^docs\/decisions\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]);
    assert.deepEqual(
      numbers,
      decisions.map((_, index) => String(index + 1).padStart(4, "0")),
    );
  });

  for (const file of decisions) {
    test(`${file} says context, choice and what was given up, on one page`, () => {
      const text = read(file);
      const [title, ...headings] = text.split("\n").filter((each) => /^#+ /.test(each));
      assert.match(title ?? "", new RegExp(`^# ${Number(file.slice("docs/decisions/".length).slice(0, 4))}\\. \\S`));
      assert.deepEqual(headings, ["## Context", "## Choice", "## What we gave up"]);
      assert.ok(text.split("\n").length <= 60, "longer than a page");
    });
  }
});

describe("dependencies", () => {
  const page = "docs/decisions/0007-dependencies.md";
  const wanted = FILES.filter((file) => /^(?:packages\/[^/]+\/)?package\.json$/.test(file)).flatMap((file) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(read(file));
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies });
  });
  const outside = [...new Map(wanted.filter(([name]) => !name.startsWith("@assent/")))];

  test("there are some", () => assert.ok(outside.length > 0));

  for (const [name, version] of outside) {
    test(`${page} says why ${name} ${version} is there`, () => {
      const lines = read(page)
        .split("\n")
        .filter((each) => each.startsWith("|") && each.includes(`\`${name}\``));
      assert.equal(lines.length, 1);
      assert.ok(lines[0]?.includes(String(version)));
    });
  }

  test(`${page} speaks of nothing that is gone`, () => {
    const named = [...read(page).matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""),
    );
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((name) => !outside.some(([known]) => known === name)),
      [],
    );
  });
});

describe("files", () => {
  /** Hosts that anybody can look up. Names reserved for examples, and single letters, need no entry. */
  const HOSTS = ["json-schema.org", "keepachangelog.com", "semver.org", "www.apache.org", "www.w3.org"];
  const RESERVED = /(?:^|\.)(?:test|example|invalid|localhost|example\.(?:com|org|net))$|^[a-z]$|^127\.0\.0\.1$|^\[::1\]$/;

  test("name no directory of one machine", () => {
    const places = ["work", "farm"].map((name) => `/${name}/`);
    const found = textFiles().flatMap((file) => places.filter((place) => mentions(read(file), place)).map((place) => `${file}: ${place}`));
    assert.deepEqual(found, []);
    assert.ok(mentions(`cd ${places[0]}main`, String(places[0])), "the reader must find a planted path");
  });

  test("name no host but the listed ones", () => {
    const found = textFiles().flatMap((file) =>
      hosts(read(file))
        .filter((host) => !isKnown(host))
        .map((host) => `${file}: ${host}`),
    );
    assert.deepEqual(found, []);
    assert.deepEqual(hosts(`see ${"https"}://registry.inside:4873/x and http://a.test/y`), ["registry.inside", "a.test"]);
  });

  test("the lock does not say where packages came from", () => {
    assert.doesNotMatch(read("package-lock.json"), /"resolved": "https?:/);
  });

  function isKnown(host: string): boolean {
    return HOSTS.includes(host) || RESERVED.test(host);
  }
});

function textFiles(): readonly string[] {
  const texts = FILES.filter((file) => file !== "package-lock.json" && !/\.(?:png|jpg|gif|ico|db|wasm)$/.test(file));
  assert.ok(texts.length > 0);
  return texts;
}

/** A path at the start of a word: `a/work/b` is somebody's relative path, not a machine's. */
function mentions(text: string, place: string): boolean {
  return new RegExp(`(?<![\\w.*~$}/-])${place}`).test(text);
}

function hosts(text: string): readonly string[] {
  return [...text.matchAll(/https?:\/\/([a-zA-Z0-9[\].-]*[a-zA-Z0-9\]])/g)].map(([, host]) => host ?? "");
}

function links(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to ?? "");
}

/** Names in backquotes that begin with a folder of ours; a `*` or a capital stands for something. */
function paths(text: string): readonly string[] {
  const ours = /`((?:packages|core|host|policy|store|tools|cli|test|docs|examples|bench|scripts)\/[a-z0-9./-]*)`/g;
  return [...text.matchAll(ours)].map(([, path]) => path ?? "");
}

function leadsSomewhere(document: string, to: string): boolean {
  if (/^https?:/.test(to)) return true;
  const [path = "", anchor] = to.split("#");
  const file = path === "" ? document : join(dirname(document), path);
  if (!existsSync(join(ROOT, file))) return false;
  return anchor === undefined || headings(read(file)).includes(anchor);
}

function headings(text: string): readonly string[] {
  const titles = text.split("\n").filter((line) => /^#+ /.test(line));
  return titles.map((title) =>
    title
      .replace(/^#+ /, "")
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .trim()
      .replace(/\s/g, "-"),
  );
}

function typescriptBlocks(text: string): readonly string[] {
  return [...text.matchAll(/^```(?:ts|typescript|tsx)[^\n]*\n([\s\S]*?)^```/gm)].map(([, code]) => code ?? "");
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}
