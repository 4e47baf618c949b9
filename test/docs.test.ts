import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { HOOK_EVENTS, sharedToolName } from "@assent/core/parts";
import { PROVIDERS } from "../packages/agent/src/providers/provider-table.ts";
import { type Place, place } from "../packages/cli/test/support/assent.ts";
import { sampleInput } from "../packages/cli/test/support/tool-inputs.ts";
import { RULE_KINDS } from "../packages/policy/src/rules/kinds.ts";
import { createSafeguards } from "../packages/policy/src/safeguards/safeguards.ts";
import { SETTINGS } from "../packages/policy/src/settings/settings.ts";
import { PROGRAMS } from "../packages/policy/src/shell/programs/table.ts";

const ROOT = join(import.meta.dirname, "..");

/** Everything that is or would be committed; a build product is neither. */
const FILES: readonly string[] = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\0")
  .filter((file) => file !== "" && existsSync(join(ROOT, file)));

/** Written by people; `docs/api` is made from the sources and has a test of its own. */
const DOCUMENTS = FILES.filter((file) => file.endsWith(".md") && !file.startsWith("packages/") && !file.startsWith("docs/api/"));

/** Blocks of commands that no test plays as they stand: the document, their first command, and why. In the order of the document. */
const UNPLAYED: readonly (readonly [document: string, first: string, because: string])[] = [
  [
    "docs/working-day.md",
    'npm run working-day -- --name "my settings" --settings settings.json',
    "it takes two minutes; npm test replays the first task",
  ],
  ["docs/inbox.md", "assent inbox", "test/inbox/page.test.ts serves the page"],
  ["docs/notifications.md", "assent notify test", "cli/test/notify/announce.test.ts sends to receivers on loopback"],
  ["CONTRIBUTING.md", "npm ci && npm test", "it runs these tests"],
  ["README.md", "npm ci && npm start", "cli/test/commands/maintenance.test.ts plays the demo"],
  ["README.md", "npm cit", "it runs these tests"],
  [
    "README.md",
    "assent --model anthropic:claude-sonnet-4-5      # or openai:…, google:…, ollama:…, a local server, script:FILE",
    "needs a key",
  ],
  ["README.md", 'assent run "fix the failing test" --on-ask park    # exit code 75: an approval is waiting', "needs a key"],
  [
    "docs/guard.md",
    `assent hook status --json | jq -e '.agents[] | select(.agent == "claude") | .state == "guarded" and .doctor.ok and .doctor.ageSeconds < 86400'`,
    "needs Claude Code; cli/test/commands/hook-install.test.ts reads the fields",
  ],
  [
    "docs/guard/claude-code.md",
    "assent hook install claude      # shows the change to ~/.claude/settings.json and asks",
    "needs the agent; test/agents plays it",
  ],
  [
    "docs/guard/codex.md",
    "assent hook install codex       # shows the change to ~/.codex/hooks.json and ~/.codex/config.toml and asks",
    "needs the agent; test/agents plays it",
  ],
  [
    "docs/guard/gemini-cli.md",
    "assent hook install gemini      # shows the change to ~/.gemini/settings.json and asks",
    "needs the agent; test/agents plays it",
  ],
  [
    "docs/guard/opencode.md",
    "assent hook install opencode    # shows the plugin ~/.config/opencode/plugin/assent.js and asks",
    "needs the agent; test/agents plays it",
  ],
  [
    "docs/guard/qwen-code.md",
    "assent hook install qwen        # shows the change to ~/.qwen/settings.json and asks",
    "needs the agent; test/agents plays it",
  ],
  [
    "docs/mcp.md",
    "assent mcp add files -- npx -y @modelcontextprotocol/server-filesystem docs",
    "installs a server; cli/test/commands/mcp.test.ts adds one that is there",
  ],
  [
    "docs/benchmarks.md",
    "npm run bench:peers -- --install   # each peer in its own folder, nothing into the root",
    "takes long, and installs every peer",
  ],
  ["docs/hooks.md", "assent trust", "test/examples.test.ts trusts the hook"],
  ["docs/hooks.md", `assent call shell --mode yolo --input '{"command":"git commit -m x"}'`, "test/examples.test.ts compares its answer"],
  [
    "docs/operations.md",
    "assent store copy ~/.local/state/assent postgres://owner@db.example/assent",
    "cli/test/commands/store.test.ts copies records",
  ],
  [
    "docs/operations.md",
    'assent run --detach "update the changelog" --model anthropic:claude-sonnet-4-5     # prints the session id',
    "needs a key; cli/test/worker plays the same commands",
  ],
  ["docs/tutorial-ai-sdk.md", "npm pkg set type=module", "test/packages installs the packed packages"],
  [
    "docs/tutorial-embed.md",
    "npm run build && npm pack --workspaces --ignore-scripts --pack-destination ~/assent-packages",
    "test/packages packs",
  ],
  ["docs/tutorial-embed.md", "npm pkg set type=module", "test/packages installs the packed packages"],
  ["docs/tutorial-terminal.md", "assent --model script:tour.yaml", "test/tutorials.test.ts takes the tour with keys"],
  ["docs/tutorial-terminal.md", "assent resume s_…", "test/tutorials.test.ts takes the tour with keys"],
  ["docs/tutorial-terminal.md", "assent log --type 'approval.*'", "test/tutorials.test.ts ends the tour with them"],
];

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

    test(`what ${document} quotes from a file is that file`, () => {
      for (const { file, code } of quotes(read(document))) {
        assert.ok(FILES.includes(file), `${file} does not exist`);
        assert.equal(code.trim(), read(file).trim(), `the block differs from ${file}`);
      }
    });
  }

  for (const document of DOCUMENTS) {
    test(`commands in ${document} are played by the tests, or it is said why not`, () => {
      const loose = commandBlocks(read(document)).filter((commands) => !commands.every(isExample));
      assert.deepEqual(
        loose.map(([first]) => first),
        UNPLAYED.filter(([where]) => where === document).map(([, first]) => first),
        'quote a transcript that the tests play ("# examples/FOLDER/NAME.out" in the first line)',
      );
    });
  }

  test("every example of a policy is quoted somewhere", () => {
    const wanted = FILES.filter((file) => file.startsWith("examples/policy/") && !file.endsWith("/broken.json"));
    const quoted = DOCUMENTS.flatMap((document) => quotes(read(document)).map(({ file }) => file));
    assert.ok(wanted.length > 0);
    assert.deepEqual(
      wanted.filter((file) => !quoted.includes(file)),
      [],
    );
  });

  test("the reader of links and blocks sees what it should", () => {
    assert.deepEqual(links("[a](b.md) and [c](d.md#e), ![f](g.png)\n```\n[h](i.md)\n```\n`[j](k.md)`"), ["b.md", "d.md#e", "g.png"]);
    assert.deepEqual(paths("`core/src/a.ts`, `docs/NNNN.md`, `test/*.ts` and `tools/src/`"), ["core/src/a.ts", "tools/src/"]);
    assert.deepEqual(typescriptBlocks("```ts\n// examples/a.ts\nx;\n```\n```sh\ny\n```\n```typescript\nz;\n```"), [
      "// examples/a.ts\nx;\n",
      "z;\n",
    ]);
    assert.deepEqual(quotes("```jsonc\n// examples/a.json\n{}\n```\n```\n# examples/b.out\n$ c\n```\n```sh\n# no file\n```"), [
      { file: "examples/a.json", code: "{}\n" },
      { file: "examples/b.out", code: "$ c\n" },
    ]);
    assert.deepEqual(commandBlocks("```sh\n$ assent a\nb\nnpx c\n```\n```\nassented\n```\n```\n# examples/a.out\n$ assent d\n```"), [
      ["assent a", "npx c"],
    ]);
    assert.deepEqual(["npx node --conditions=@assent/source examples/dispatch.ts", "npx node examples/no.ts"].map(isExample), [
      true,
      false,
    ]);
    assert.deepEqual(tableRows("| a | b |\n|---|---|\n| `x \\| y` | z |\n\n| c |\n|---|\n| d |", "a"), [["`x | y`", "z"]]);
    assert.deepEqual(quoted("`a`, ``b`c`` and `d`"), ["a", "b`c", "d"]);
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

describe("tables of the documents are those of the program", () => {
  test("docs/settings.md has every key, in the order of the table, and says what a project may set", () => {
    const rows = tableRows(read("docs/settings.md"), "key").map(([key = "", , untrusted = ""]) => [
      ...quoted(key),
      untrusted.split(":")[0],
    ]);
    sameNames(
      rows.map((row) => row.join(": ")),
      Object.entries(SETTINGS).map(([key, { untrusted }]) => `${key}: ${untrusted}`),
      "the table of keys in docs/settings.md",
    );
  });

  test("docs/models.md has every provider with its variables and its address", () => {
    const rows = tableRows(read("docs/models.md"), "provider");
    assert.deepEqual(
      rows,
      Object.entries(PROVIDERS).map(([name, { keys, keyless, baseVariable, base }]) => [
        `\`${name}\``,
        `${keys.map((key) => `\`${key}\``).join(" or ")}${keyless ? ", optional" : ""}`,
        `\`${baseVariable}\``,
        base === undefined ? "must be set" : `\`${base}\``,
      ]),
    );
  });

  test("what docs/settings.md calls 'not used yet' is used by nothing", () => {
    const unused = tableRows(read("docs/settings.md"), "key").flatMap(([key = "", , , meaning]) =>
      meaning === "not used yet" ? quoted(key) : [],
    );
    assert.ok(unused.length > 0);
    assert.deepEqual(
      unused.filter((key) => isNamed(key, ["packages/policy/src/settings/"])),
      [],
    );
  });

  test("what docs/hooks.md calls not used is consulted by nothing", () => {
    const unused = tableRows(read("docs/hooks.md"), "event").flatMap((row) => (row.at(-1) === "no" ? quoted(row[0] ?? "") : []));
    assert.ok(unused.length > 0);
    assert.deepEqual(
      unused.filter((event) => isNamed(event, ["packages/core/src/model/", "packages/policy/src/hooks/"])),
      [],
    );
  });

  test("docs/hooks.md has every event, with what a hook can do there", () => {
    const rows = tableRows(read("docs/hooks.md"), "event").map((row) =>
      row.slice(0, 9).map((cell, at) => (at < 2 ? (quoted(cell)[0] ?? "–") : cell)),
    );
    const without = rows.map(([event, shared, , ...rest]) => [event, shared, ...rest]);
    assert.deepEqual(
      without,
      Object.entries(HOOK_EVENTS).map(([event, { shared = "–", matchesOn, blocks, failsClosed, rewrites, decides, context }]) => [
        event,
        shared,
        matchesOn[0] ?? "–",
        blocks === "holds" ? "keeps it running" : blocks,
        FAILURES[failsClosed],
        rewrites,
        decides.join(", ") || "no",
        context ? "yes" : "no",
      ]),
    );
  });

  test("docs/hooks.md has the common name of every tool that has one", async () => {
    using at = place();
    const [, told = ""] = /^Common names: ([\s\S]*?)\. Other\s+tools/m.exec(read("docs/hooks.md")) ?? [];
    const { value } = await at.hereJson(["tools", "--all"]);
    const names: readonly string[] = value.tools.map(({ name }: { readonly name: string }) => name);
    assert.deepEqual(
      [...told.matchAll(/`(\w+)` is\s+`(\w+)`/g)].map(([, ours, common]) => `${ours} ${common}`).sort(),
      names.flatMap((name) => (sharedToolName(name) === name ? [] : [`${name} ${sharedToolName(name)}`])).sort(),
    );
  });

  const FAILURES = { deny: "denies", no_opinion: "no opinion; no hook's allow counts", withhold: "output withheld", no: "warning" };

  test("SECURITY.md names every built-in tool, with what becomes of its calls where no rule speaks", async () => {
    using at = place();
    const rows = tableRows(read("SECURITY.md"), "built-in tools");
    const { value } = await at.hereJson(["tools", "--all"]);
    const names: readonly string[] = value.tools.map(({ name }: { readonly name: string }) => name);
    sameNames(rows.flatMap(([tools = ""]) => quoted(tools)).sort(), [...names].sort(), "the table of built-in tools in SECURITY.md");
    for (const [tools = "", becomes = ""] of rows) {
      // `ask` and `resolve` are only offered if a person can answer or something is staged.
      for (const tool of quoted(tools).filter((name) => name !== "ask" && name !== "resolve")) {
        const { value: told } = await at.hereJson(["explain", "--tool", tool, "--input", JSON.stringify(sampleInput(tool))]);
        assert.equal(told.verdict, becomes.startsWith("allowed") ? "allow" : "ask", tool);
      }
    }
  });

  test("docs/commands.md has every command that help lists", async () => {
    using at = place();
    const { stdout } = await at.here(["help"]);
    const [listed = ""] = stdout.split("\nTry it:");
    const commands = [...listed.matchAll(/^ {2}(\S.*?) {2,}\S/gm)].map(([, command]) => command ?? "");
    assert.ok(commands.length > 20);
    sameNames(
      tableRows(read("docs/commands.md"), "command")
        .flatMap(([command = ""]) => quoted(command))
        .sort(),
      commands.sort(),
      "docs/commands.md",
    );
  });

  test("docs/shell.md has every safeguard, in the order in which they are named, and then the runtime's own", () => {
    const own = { stateDirectory: "/state", settingsFiles: [] };
    const safeguards = createSafeguards({ own, rules: [] }).map(({ id }) => id);
    sameNames(
      tableRows(read("docs/shell.md"), "safeguard").flatMap(([safeguard = ""]) => quoted(safeguard)),
      [...safeguards, "analysis-failed", "recovery"],
      "the table of safeguards in docs/shell.md",
    );
  });

  test("docs/rules.md has every name that stands for several tools", () => {
    const names = RULE_KINDS.flatMap(({ groups }) => groups.map(({ name, aliases = [] }) => [name, ...aliases].join(", ")));
    const rows = tableRows(read("docs/rules.md"), "name").map(([name = ""]) => quoted(name).join(", "));
    sameNames(
      rows.filter((name) => names.includes(name)),
      names,
      "the table of names in docs/rules.md",
    );
  });

  test("docs/shell.md names every modelled command, and no other", () => {
    const rows = tableRows(read("docs/shell.md"), "commands");
    const git = rows.filter(([commands = ""]) => commands.startsWith("`git`")).flatMap(([, notes = ""]) => quoted(notes));
    const programs = rows.flatMap(([commands = "", notes = ""]) => (/version/.test(notes) ? [] : quoted(commands)));
    const modelled = [...PROGRAMS].flatMap(([name, { reads }]) => (reads ? [name] : []));
    sameNames([...new Set(programs)].sort(), modelled.sort(), "the table of commands in docs/shell.md");
    const subcommands = Object.entries(PROGRAMS.get("git")?.subcommands ?? {}).flatMap(([name, { reads }]) => (reads ? [name] : []));
    assert.deepEqual(git.map((name) => name.replace(/ --get$/, "")).sort(), subcommands.sort());
  });
});

describe("verdicts in docs/rules.md", () => {
  const text = read("docs/rules.md");

  for (const [rule = "", passes = "", asks = ""] of tableRows(text, "allow")) {
    test(`allow ${rule} lets pass and asks as it says`, async () => {
      using at = place();
      const judge = judging(at, { allow: quoted(rule), readOnlyHint: "ask" }, rule);
      assert.ok(quoted(passes).length > 0 && quoted(asks).length > 0, "a row without examples says nothing");
      for (const call of quoted(passes)) assert.equal((await judge(call)).verdict, "allow", call);
      for (const call of quoted(asks)) assert.equal((await judge(call)).verdict, "ask", call);
    });
  }

  for (const [rule = "", denied = "", doubtful = "", others = ""] of tableRows(text, "deny")) {
    test(`deny ${rule} denies, doubts and leaves alone what it says`, async () => {
      using at = place();
      const judge = judging(at, { deny: quoted(rule) }, rule);
      assert.ok(quoted(denied).length > 0 && quoted(others).length > 0, "a row without examples says nothing");
      for (const call of quoted(denied)) assert.deepEqual(told(await judge(call)), ["deny", "checker"], call);
      for (const call of quoted(doubtful)) assert.deepEqual(told(await judge(call)), ["ask", "guard"], call);
      for (const call of quoted(others)) assert.ok(!["guard", "checker"].includes((await judge(call)).reason), call);
    });
  }

  test("there are some", () => assert.ok(tableRows(text, "allow").length > 5 && tableRows(text, "deny").length > 5));

  type Judged = { readonly verdict: string; readonly reason: string };

  /** A command for rules about the shell; a path to write or read for the others. */
  function judging(at: Place, permissions: object, rule: string): (call: string) => Promise<Judged> {
    const policy = at.write("policy.json", JSON.stringify({ permissions }));
    return async (call) => {
      const [tool, input] = /shell/i.test(rule)
        ? ["shell", { command: call }]
        : /read/i.test(rule)
          ? ["read", { file_path: call }]
          : ["write", { file_path: call, content: "" }];
      const { value } = await at.hereJson(["explain", "--policy", policy, "--tool", tool, "--input", JSON.stringify(input)]);
      return value;
    };
  }

  function told({ verdict, reason }: Judged): readonly string[] {
    return [verdict, reason];
  }
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
    test(`${file} has a context, a choice and a cost, on one page`, () => {
      const text = read(file);
      const [title, ...headings] = text.split("\n").filter((each) => /^#+ /.test(each));
      assert.match(title ?? "", new RegExp(`^# ${Number(file.slice("docs/decisions/".length).slice(0, 4))}\\. \\S`));
      assert.deepEqual(headings, ["## Context", "## Choice", "## Cost"]);
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
  /** Hosts that anybody can look up. Names reserved for examples or for the house, those that only look like them, numbers, and a few letters need no entry. */
  const HOSTS = ["json-schema.org", "keepachangelog.com", "semver.org", "www.apache.org", "www.w3.org"];
  /** The documentation that a comparison is based on. */
  const COMPARED = ["docs.dbos.dev", "docs.restate.dev", "docs.temporal.io"];
  /** Where the wires of the providers lead. */
  const PROVIDERS = ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"];
  const RESERVED =
    /(?:^|\.)(?:test|example|invalid|localhost|local|internal|[a-z]*example\.(?:com|org|net))$|^[a-z]{1,3}$|^(?:0x)?[\da-f.]+$|^\[(?:::1\])?|^(?:evil|host)$/i;

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
    const locks = FILES.filter(isLock);
    assert.ok(locks.includes("package-lock.json"));
    for (const lock of locks) assert.doesNotMatch(read(lock), /"resolved": "https?:/, lock);
  });

  function isKnown(host: string): boolean {
    return HOSTS.includes(host) || COMPARED.includes(host) || PROVIDERS.includes(host) || RESERVED.test(host);
  }
});

/** Written by npm; names who asks for money. */
/** Names that a document lists. The message says which are missing there, because the difference of two long lists hides it. */
function sameNames(found: readonly string[], expected: readonly string[], where: string): void {
  const missing = expected.filter((name) => !found.includes(name));
  const surplus = found.filter((name) => !expected.includes(name));
  assert.deepEqual({ missing, surplus }, { missing: [], surplus: [] }, `${where}: add what is missing, remove what is surplus`);
  assert.deepEqual(found, expected, `${where} has another order`);
}

function isLock(file: string): boolean {
  return file.endsWith("package-lock.json");
}

function textFiles(): readonly string[] {
  const texts = FILES.filter((file) => !isLock(file) && !/\.(?:png|jpg|gif|ico|db|wasm)$/.test(file));
  assert.ok(texts.length > 0);
  return texts;
}

/** A path at the start of a word: `a/work/b` is a relative path, not a path of a machine. */
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

/** The commands of `assent` and npm in each fenced block that quotes no file. */
function commandBlocks(text: string): readonly (readonly string[])[] {
  const blocks = [...text.matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm)].map(([, block]) => block ?? "");
  return blocks
    .filter((block) => !/^(?:\/\/|#) examples\//.test(block))
    .map((block) => [...block.matchAll(/^(?:\$ )?((?:assent|npm|npx) .*)$/gm)].map(([, command]) => command ?? ""))
    .filter((commands) => commands.length > 0);
}

/** `examples.test.ts` runs every program right below examples/ in this way. */
function isExample(command: string): boolean {
  const [, file] = /^npx node --conditions=@assent\/source (examples\/[\w-]+\.ts)$/.exec(command) ?? [];
  return file !== undefined && FILES.includes(file);
}

/** Fenced blocks whose first line is a comment that names a file. */
function quotes(text: string): readonly { readonly file: string; readonly code: string }[] {
  const blocks = [...text.matchAll(/^```[a-z]*\n(?:\/\/|#|--) (examples\/\S+)\n([\s\S]*?)^```/gm)];
  return blocks.map(([, file = "", code = ""]) => ({ file, code }));
}

/** The rows of every table whose first column has this heading. */
function tableRows(text: string, heading: string): readonly (readonly string[])[] {
  const tables = text.split(/\n(?!\|)/).map((part) => part.split("\n").filter((line) => line.startsWith("|")));
  const rows = tables.map((lines) => lines.map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim())));
  return rows.filter(([first]) => first?.[1] === heading).flatMap((table) => table.slice(2).map((cells) => cells.slice(1, -1)));
}

/** Texts in backquotes. */
function quoted(cell: string): readonly string[] {
  return [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , code]) => code ?? "");
}

/** Whether the sources name it as a whole text, apart from the folders that define it. */
function isNamed(name: string, definedIn: readonly string[]): boolean {
  const sources = FILES.filter((file) => /^packages\/\w+\/src\/.*\.ts$/.test(file) && !definedIn.some((folder) => file.startsWith(folder)));
  assert.ok(sources.length > 0);
  const isRead = name.includes(".") ? [`"${name}"`] : [`"${name}"`, `.${name}`, `{ ${name} }`];
  return sources.some((file) => isRead.some((form) => read(file).includes(form)));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}
