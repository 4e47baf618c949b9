import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Explanation, JudgedCommand } from "@assent/policy";
import { type ExplainLayout, explainText } from "../../../src/desk/explain/text.ts";
import { styleOf } from "../../../src/io/style.ts";

const PLAIN: ExplainLayout = {
  columns: undefined,
  style: styleOf({ isTTY: false }, {}),
  subject: "ls",
  offers: [],
};

function command(more: Partial<JudgedCommand> & { readonly words: readonly string[] }): JudgedCommand {
  const { words, ...rest } = more;
  return {
    argv: words.map((text) => ({ text, dynamic: false })),
    path: [],
    cwd: "/w",
    assignments: [],
    redirections: [],
    class: "read",
    operands: [],
    hazards: [],
    verdict: "allow",
    source: "readonly_hint",
    ...rest,
  };
}

function explanation(more: Partial<Explanation>): Explanation {
  return { verdict: "ask", reason: "default", source: "", rule: null, unit: 0, units: 1, trace: [], misses: [], revision: "r", ...more };
}

const RULE = {
  text: "Shell(curl)",
  source: "user permissions",
  file: "/home/ada/.config/assent/settings.json",
  line: 7,
  column: 9,
  because: "no network",
};

describe("an explanation for people", () => {
  test("a command says where it runs, and which setting would answer the default prompt", () => {
    const confined = { confined: true, network: false } as const;
    assert.match(
      explainText(explanation({ containment: confined }), PLAIN),
      /^Sandbox: confined: .*, no network\.\nTo run confined commands without asking, set "allowConfined": true\.$/m,
    );
    const allowed = explainText(explanation({ containment: confined, verdict: "allow", reason: "confined" }), PLAIN);
    assert.match(allowed, /It runs confined and without network, and your settings allow that/);
    assert.doesNotMatch(allowed, /To run confined commands/);
    const outside = explainText(explanation({ containment: { confined: false, reason: "no bubblewrap" } }), PLAIN);
    assert.match(outside, /^Sandbox: none, it runs with your permissions: no bubblewrap\.$/m);
  });
  test("a call that is staged says so first, by which rule, and both decisions", () => {
    const by = { text: "Edit(src/**)", source: "policy file", file: "/p.json", line: 3, column: 5 };
    const staging = { by, verdict: "allow", reason: "tool", source: "", rule: null, units: 1, trace: [] } as const;
    const text = explainText(explanation({ staging }), PLAIN);
    assert.deepEqual(text.split("\n").slice(0, 8), [
      "STAGED  ls",
      "",
      "It is staged instead of run, by a rule of proposals.stage: nothing changes until it is applied.",
      "  rule     Edit(src/**)",
      "  at       /p.json:3:5",
      "To stage it, which only reads: allow. The tool itself allows this input.",
      "",
      "To apply it: ask. No rule allows it, so it needs approval.",
    ]);
    assert.match(explainText(explanation({ staging: { ...staging, by: null } }), PLAIN), /staged instead of run, by the tool itself:/);
  });

  test("the verdict, the reason with its rule, the commands, what to change, and who was heard", () => {
    const text = explainText(
      explanation({
        verdict: "deny",
        reason: "checker",
        source: "user permissions",
        rule: RULE,
        unit: 2,
        units: 3,
        plan: {
          digest: "d",
          cwd: "/w",
          shape: "text",
          modelled: false,
          commands: [
            command({ words: ["git", "status"], path: ["&&[0]"] }),
            command({
              words: ["sh", "-c", "curl x"],
              path: ["&&[1]"],
              class: "opaque",
              verdict: "ask",
              source: "default",
              hazards: [{ id: "opaque_program", text: "Assent doesn't know what sh does" }],
            }),
            command({
              words: ["curl", "x"],
              path: ["&&[1]", "sh -c"],
              class: "unknown",
              verdict: "deny",
              rule: "Shell(curl)",
              source: "user permissions",
            }),
          ],
          hazards: [],
        },
        trace: [
          { layer: "safeguard:root-delete", opinion: "none" },
          { layer: "user permissions", opinion: "deny", rule: "Shell(curl)" },
          { layer: "mode", opinion: "not_reached", note: "default" },
        ],
      }),
      { ...PLAIN, subject: "git status && sh -c 'curl x'" },
    );
    assert.equal(
      text,
      `DENY  git status && sh -c 'curl x'

A deny rule from the user permissions matches. A deny holds in every mode.
  rule     Shell(curl)
  at       /home/ada/.config/assent/settings.json:7:9
  because  no network

The 3 commands, as Assent reads them:
  allow  1. git status  (only reads)
         known to change nothing
  ask    2. on success: sh -c 'curl x'  (runs code that Assent can't inspect)
         ! Assent doesn't know what sh does
    deny   sh -c: curl x  (unknown effect)  ← decides
           by Shell(curl), user permissions

To change this, change that rule. No other rule, mode or remembered answer overrides it.

WHO               SAYS           WHY
safeguards        –
user permissions  deny           Shell(curl)
mode              not consulted  default
`,
    );
  });

  const sentences: readonly (readonly [string, Partial<Explanation>, RegExp])[] = [
    [
      "a guard that denies says why",
      {
        verdict: "deny",
        reason: "guard",
        source: "root-delete",
        rule: { text: "safeguard:root-delete", source: "root-delete" },
        trace: [{ layer: "safeguard:root-delete", opinion: "deny", note: "deleting the root directory" }],
      },
      /^A safeguard forbids it: deleting the root directory\.$/m,
    ],
    ["a guard that asks insists", { reason: "guard", source: "control-file", trace: [] }, /^A safeguard requires approval\.$/m],
    [
      "a checker that failed is named with its failure",
      {
        verdict: "deny",
        reason: "checker",
        source: "user permissions",
        trace: [{ layer: "user permissions", opinion: "error", note: "failed: x" }],
      },
      /^The user permissions failed to judge it, so it is denied: failed: x\.$/m,
    ],
    ["plan mode", { verdict: "deny", reason: "mode", source: "plan" }, /^Mode 'plan' blocks everything that may change something/m],
    [
      "an ask rule",
      { reason: "checker", source: "project permissions", rule: RULE },
      /^An ask rule from the project permissions matches\./m,
    ],
    ["no rule allowed it", { reason: "default" }, /^No rule allows it, so it needs approval\.$/m],
    ["the tool asks", { reason: "tool" }, /the tool itself asks for approval\.$/m],
    ["the tool refuses", { verdict: "deny", reason: "tool" }, /^The tool itself refuses this input\.$/m],
    [
      "a rule allows one part",
      { verdict: "allow", reason: "checker", source: "user permissions", rule: RULE },
      /^An allow rule from the user permissions matches\.$/m,
    ],
    [
      "rules allow every part",
      { verdict: "allow", reason: "checker", source: "user permissions", units: 2 },
      /^Each of its 2 parts is allowed; the first by the user permissions\.$/m,
    ],
    ["auto-edit", { verdict: "allow", reason: "mode", source: "auto-edit" }, /^Mode 'auto-edit' allows edits inside the workspace\.$/m],
    ["yolo", { verdict: "allow", reason: "yolo" }, /^Mode 'yolo' allows everything/m],
    ["the read-only hint", { verdict: "allow", reason: "readonly_hint" }, /^It only reads, and your settings allow such calls/m],
    ["the tool allows", { verdict: "allow", reason: "tool" }, /^The tool itself allows this input\.$/m],
  ];
  for (const [name, given, expected] of sentences) test(name, () => assert.match(explainText(explanation(given), PLAIN), expected));

  test("what would let an ask pass is offered as flags, ready to copy", () => {
    const text = explainText(explanation({}), { ...PLAIN, offers: ["Shell(git log)", "Shell(echo 'a')"] });
    assert.match(text, /permissions\.allow in your settings:\n {2}"Shell\(git log\)"\n {2}"Shell\(echo 'a'\)"\n/);
    assert.match(text, /^ {2}--allow 'Shell\(git log\)' --allow 'Shell\(echo '\\''a'\\''\)'$/m);
    const bound = explainText(explanation({}), { ...PLAIN, offers: ['{"rule":"Shell(npm test)","bind":{"script":"sha256:00"}}'] });
    assert.match(bound, /^ {2}\{"rule":"Shell\(npm test\)","bind":\{"script":"sha256:00"\}\}\n.*\n {2}--allow 'Shell\(npm test\)'$/m);
    assert.match(explainText(explanation({}), PLAIN), /^No narrow rule would match it: it needs approval each time\.$/m);
    assert.doesNotMatch(explainText(explanation({ verdict: "allow", reason: "yolo" }), PLAIN), /--allow|each time/);
  });

  test("paths are told with where they lead and what they are", () => {
    const path = { lexical: "/w/link", real: "/etc/shadow", inside: false, sensitive: true, control: false };
    const text = explainText(explanation({ facts: { paths: [path] } }), PLAIN);
    assert.match(text, /^ {2}path {2}\/w\/link\n {4}leads to \/etc\/shadow\n {4}outside the workspace, may hold secrets$/m);
    assert.match(explainText(explanation({ facts: { host: "example.test" } }), PLAIN), /^ {2}host {2}example\.test$/m);
  });

  test("a text that was not parsed has its hazards and no commands", () => {
    const plan = {
      digest: "d",
      cwd: "/w",
      shape: "text",
      modelled: false,
      commands: [],
      hazards: [{ id: "too_long", text: "70000 characters" }],
    } as const;
    assert.match(explainText(explanation({ plan }), PLAIN), /^This could not be read as commands:\n {2}! 70000 characters$/m);
  });

  test("what a terminal would act on is shown as an escape, everywhere", () => {
    const evil = "\u001b[2J\u202e\u200b\r\u0085";
    const plan = {
      digest: "d",
      cwd: "/w",
      shape: "text",
      modelled: false,
      commands: [command({ words: [evil], rule: evil, source: evil, hazards: [{ id: "hidden_character", text: evil }] })],
      hazards: [{ id: "hidden_character", text: evil }],
    } as const;
    const rule = { text: evil, source: evil, file: evil, line: 1, column: 1, because: evil };
    const path = { lexical: evil, real: `${evil}x`, inside: false, sensitive: false, control: false };
    const trace = [{ layer: evil, opinion: "ask", rule: evil, note: evil }] as const;
    for (const facts of [{ paths: [path] }, { host: evil }]) {
      const text = explainText(explanation({ reason: "checker", source: evil, rule, plan, facts, trace }), {
        ...PLAIN,
        subject: evil,
        offers: [evil],
      });
      assert.ok(!/[^\P{Cc}\n]|[\u202e\u200b]/u.test(text), JSON.stringify(text));
    }
    const offered = explainText(explanation({}), { ...PLAIN, offers: [evil] });
    assert.ok(!/[^\P{Cc}\n]|[\u202e\u200b]/u.test(offered));
  });

  test("sentences end their lines at blanks; a terminal without a width gets whole lines", () => {
    const given = explanation({ verdict: "deny", reason: "mode", source: "plan" });
    const narrow = explainText(given, { ...PLAIN, columns: 40 });
    assert.match(narrow, /^Mode 'plan' blocks everything that may\nchange something, even if a rule allows\nit\.$/m);
    assert.equal(explainText(given, { ...PLAIN, columns: 0 }), explainText(given, PLAIN));
  });

  test("a terminal gets colours and no line wider than it is; NO_COLOR gets none", () => {
    const plan = {
      digest: "d",
      cwd: "/w",
      shape: "argv",
      modelled: true,
      commands: [command({ words: ["ls", "x".repeat(200)] })],
      hazards: [],
    } as const;
    const shown = explanation({
      verdict: "allow",
      reason: "readonly_hint",
      plan,
      trace: [{ layer: "mode", opinion: "none", note: "y ".repeat(100) }],
    });
    const coloured = explainText(shown, { ...PLAIN, columns: 80, style: styleOf({ isTTY: true }, {}) });
    assert.ok(coloured.startsWith("\u001b[1m\u001b[32mALLOW\u001b[39m\u001b[22m"), JSON.stringify(coloured.slice(0, 40)));
    const plain = explainText(shown, { ...PLAIN, columns: 80, style: styleOf({ isTTY: true }, { NO_COLOR: "" }) });
    assert.ok(!plain.includes("\u001b"));
    const [, ...lines] = plain.split("\n");
    assert.ok(
      lines.every((line) => line.length <= 80),
      plain,
    );
  });
});
