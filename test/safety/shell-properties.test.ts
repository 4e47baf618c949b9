import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import fc from "fast-check";
import { type Judge, type PolicyText, shellScene } from "./shell-scene.ts";

/** The same texts in every run; another number finds others. */
const SEED = 20_260_731;
const LONGEST = 4096;

const scene = shellScene();
after(() => scene[Symbol.dispose]());

const MODES = ["default", "plan", "auto-edit", "yolo"] as const;

const DENIES = ["Shell(curl)", "Shell(git push)", "Shell(npm publish)", "Shell(sudo)"];

/** Everything is open but what is denied: the most tempting policy. */
function openBut(mode: (typeof MODES)[number]): PolicyText {
  return { mode, permissions: { allow: ["*", "Shell"], deny: DENIES } };
}

const DENYING = MODES.map((mode) => [mode, scene.judge(openBut(mode))] as const);

/** Commands that a rule or a guard denies, as their words. */
const DENIED: readonly (readonly [string, ...string[]])[] = [
  ["curl", "https://example.test"],
  ["git", "push", "origin", "main"],
  ["git", "-c", "a.b=c", "--no-pager", "push"],
  ["npm", "publish"],
  ["sudo", "ls"],
  ["rm", "-rf", "/"],
  ["rm", "--recursive", "/home/.."],
];

/** A text, and whether it is one simple command, before which another command's words may stand. */
type Text = { readonly text: string; readonly simple: boolean };
type Wrap = (inner: Text) => Text;

function compound(make: (inner: string) => string): Wrap {
  return ({ text }) => ({ text: make(text), simple: false });
}

/** Words before a command; what is more than one command goes into a shell of its own. */
function before(words: string): Wrap {
  return ({ text, simple }) => ({ text: `${words} ${simple ? text : `bash -c ${singleQuoted(text)}`}`, simple: true });
}

function inShell(make: (quoted: string) => string): Wrap {
  return ({ text }) => ({ text: make(singleQuoted(text)), simple: true });
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function doubleQuoted(text: string): string {
  return `"${text.replace(/["\\$`]/g, "\\$&")}"`;
}

function backquoted(text: string): string {
  return text.replace(/[\\`$]/g, "\\$&");
}

const WRAPS: Readonly<Record<string, Wrap>> = {
  "(d)": compound((d) => `(${d}\n)`),
  "{ d; }": compound((d) => `{ ${d}\n}`),
  "d &": compound((d) => `{ ${d}\n} &`),
  "x && d": compound((d) => `true && { ${d}\n}`),
  "x || d": compound((d) => `false || (${d}\n)`),
  "x | d": compound((d) => `cat README.md | { ${d}\n}`),
  "d | x": compound((d) => `{ ${d}\n} | cat`),
  "after a newline": compound((d) => `ls -la\n${d}`),
  "after a comment": compound((d) => `# it's "nothing" $(\n${d}`),
  "after sixty": compound((d) => `${"true && ".repeat(60)}{ ${d}\n}`),
  "! d": compound((d) => `! { ${d}\n}`),
  "bash -c 'd'": inShell((d) => `bash -c ${d}`),
  "sh -ec 'd'": inShell((d) => `/bin/sh -ec ${d}`),
  "bash -o pipefail -c 'd'": inShell((d) => `bash -o pipefail -c ${d}`),
  'sh -c "d"': ({ text }) => ({ text: `sh -c ${doubleQuoted(text)}`, simple: true }),
  "eval 'd'": inShell((d) => `eval ${d}`),
  "echo 'd' | bash": ({ text }) => ({ text: `echo ${singleQuoted(text)} | bash`, simple: false }),
  "bash <<< 'd'": ({ text }) => ({ text: `bash <<< ${singleQuoted(text)}`, simple: false }),
  "bash << 'E'": compound((d) => `bash <<'END'\n${d}\nEND\n`),
  "timeout 5 d": before("timeout -k 1 5"),
  "env d": before("env -u X A=b"),
  "nice d": before("nice -n 5"),
  "nohup d": before("nohup"),
  "command d": before("command"),
  "exec d": before("exec -a name"),
  "doas d": before("doas -u nobody"),
  "xargs d": before("xargs -0 -n 1"),
  "busybox env d": before("busybox env"),
  "find -exec d": ({ text, simple }) => ({
    text: `find . -name x -exec ${simple ? text : `sh -c ${singleQuoted(text)}`} \\;`,
    simple: false,
  }),
  "echo $(d)": compound((d) => `echo $(${d}\n)`),
  'echo "$(d)"': compound((d) => `echo "a $(${d}\n)"`),
  "echo `d`": compound((d) => `echo \`${backquoted(d)}\``),
  "x=$(d)": compound((d) => `x=$(${d}\n) ls`),
  "a=($(d))": compound((d) => `a=(1 $(${d}\n) )`),
  "cat <(d)": compound((d) => `cat <(${d}\n)`),
  "ls > $(d)": compound((d) => `ls > $(${d}\n)`),
  "a default with $(d)": compound((d) => `echo "\${x:-$(${d}\n)}"`),
  "a subscript with $(d)": compound((d) => `echo \${a[$(${d}\n)]}`),
  "$(( $(d) ))": compound((d) => `echo $(( $(${d}\n) + 1 ))`),
  "[[ $(d) ]]": compound((d) => `[[ -n $(${d}\n) ]]`),
  "cat << E with $(d)": compound((d) => `cat <<END\n$(${d}\n)\nEND\n`),
  "if d": compound((d) => `if ${d}\nthen :; fi`),
  "then d": compound((d) => `if true; then ${d}\nfi`),
  "else d": compound((d) => `if false; then :; else ${d}\nfi`),
  "while d": compound((d) => `while ${d}\ndo :; done`),
  "for … do d": compound((d) => `for i in 1 2; do ${d}\ndone`),
  "for ((…)) do d": compound((d) => `for ((i=0; i<1; i++)); do ${d}\ndone`),
  "case … d": compound((d) => `case x in (y|x) ${d}\n;; esac`),
  "f() { d; }": compound((d) => `f() { ${d}\n}; f`),
  "function f { d; }": compound((d) => `function f { ${d}\n}`),
  "coproc d": compound((d) => `coproc { ${d}\n}`),
  "trap 'd' EXIT": ({ text }) => ({ text: `trap ${singleQuoted(text)} EXIT`, simple: false }),
  "git -c alias.x='!d' x": ({ text }) => ({ text: `git -c alias.x=${singleQuoted(`!${text}`)} x`, simple: true }),
};

/** A word with its characters quoted at random, one stretch in this way and the next in that. */
function splitQuotes(word: string): fc.Arbitrary<string> {
  const ways = ["plain", "single", "double", "escaped"] as const;
  return fc
    .array(fc.tuple(fc.constantFrom(...ways), fc.integer({ min: 1, max: 3 })), { minLength: word.length, maxLength: word.length })
    .map((pieces) => {
      let text = "";
      let at = 0;
      for (const [way, length] of pieces) {
        const part = word.slice(at, at + length);
        at += length;
        text += quotedIn(way, part);
      }
      return text;
    });
}

function quotedIn(way: "plain" | "single" | "double" | "escaped", part: string): string {
  if (part === "" || way === "plain") return part;
  if (way === "single") return `'${part}'`;
  return way === "double" ? `"${part}"` : part.replace(/./g, "\\$&");
}

const deniedText: fc.Arbitrary<string> = fc
  .constantFrom(...DENIED)
  .chain((words) =>
    fc
      .tuple(fc.tuple(...words.map(splitQuotes)), fc.array(fc.constantFrom(...Object.keys(WRAPS)), { maxLength: 4 }))
      .map(([quoted, names]) => names.reduce<Text>((inner, name) => wrapped(name, inner), { text: quoted.join(" "), simple: true }).text),
  );

function wrapped(name: string, inner: Text): Text {
  const wrap = WRAPS[name];
  assert.ok(wrap);
  return wrap(inner);
}

suite("policy.md 11 a: a denied command stays denied", () => {
  for (const name of Object.keys(WRAPS))
    test(`each denied command in ${name}, in every mode`, () => {
      for (const words of DENIED) {
        const { text } = wrapped(name, { text: words.join(" "), simple: true });
        for (const [mode, judge] of DENYING) assertDenied(judge, text, mode);
      }
    });

  test("whatever it is wrapped in, up to four deep, and however its words are quoted", () => {
    fc.assert(
      fc.property(deniedText, fc.constantFrom(...DENYING), (text, [mode, judge]) => {
        fc.pre(text.length <= LONGEST);
        assertDenied(judge, text, mode);
      }),
      { seed: SEED, numRuns: 800 },
    );
  });
});

/** In plan mode the mode may speak first, of a command that stands before the denied one. */
function assertDenied(judge: Judge, text: string, mode: string): void {
  const { verdict, reason } = judge(text);
  assert.equal(verdict, "deny", `${mode}: ${text}`);
  if (mode !== "plan") assert.ok(reason === "checker" || reason === "guard", `${mode}: ${reason} denied ${text}`);
}

/** Ways by which bash comes to run a substitution, or a file to be written, that a reader of its grammar can miss. */
const HIDDEN_SUBSTITUTIONS: readonly string[] = [
  "a=($(curl x))z",
  "a=($(curl x))z ls",
  "a+=(`curl x`)z",
  "a=(<(curl x))z",
  "a=([0]=$(curl x))z",
  "a=([$(curl x)]=1)",
  "a=(['$(curl x)']=1)",
  "declare a=($(curl x))z",
  "export a=($(curl x))z",
  "echo $(( '$(curl x)' ))",
  "(( '$(curl x)' ))",
  "echo $[ '$(curl x)' ]",
  "for ((i='$(curl x)';i<1;i++)); do :; done",
  "a['$(curl x)']=1",
  `echo "\${a['$(curl x)']}"`,
  `echo \${a['$(curl x)']:-y}`,
  `echo \${!a['$(curl x)']}`,
  `echo \${#a[$(curl x)]}`,
  `echo \${x:$(curl x)}`,
  `echo \${x/$(curl x)/y}`,
  `cat <<E\n\${x:-'$(curl x)'}\nE`,
  "cat <<E\n`curl x`\nE",
  "let 'a[$(curl x)]=1'",
  "test -v 'a[$(curl x)]'",
  "[[ a -eq 'b[$(curl x)]' ]]",
  "printf -v 'a[$(curl x)]' y",
  "declare -i n='a[$(curl x)]'",
  "ls 2> >(curl x)",
  "BASH_ENV='$(curl x)' bash -c :",
  "env BASH_ENV='$(curl x)' bash -c :",
  "env 'BASH_FUNC_ls%%=() { curl x; }' bash -c ls",
  "PS4='$(curl x)' bash -xc :",
  "X=c; bash -$X 'curl x'",
  "X=-c; bash \"$X\" 'curl x'",
  "bash -? 'curl x'",
  "X=-exec; find . $X curl x ';'",
  "find . -{exec,x} curl x ';'",
  `x='$(curl x)'; echo "\${x@P}"`,
  "declare -i n; n='a[$(curl x)]'",
  "((true);(curl x))",
  "shopt -s expand_aliases\nalias ls='curl x'\nls",
  "echo >& '$(curl x)'",
  'echo 1>& "\\$(curl x)"',
  "{ echo; } >& '`curl x`'",
  "echo 'a\\' ; curl x",
  "cu\\\nrl x",
  "$'\\x63url' x",
  '$"curl" x',
  "read r <<< 'a[$(curl x)]'; echo $((r))",
  "for x in 'a[$(curl x)]'; do echo $((x)); done",
  "for x in 'a[$(curl x)]'; do [[ $x -eq 1 ]]; done",
  `for x in 'a[$(curl x)]'; do echo \${!x}; done`,
  "set -- 'a[$(curl x)]'; echo $(($1))",
  "f() { echo $(($1)); }; f 'a[$(curl x)]'",
  "mapfile -t m <<< 'a[$(curl x)]'; ((m[0]))",
  "echo 'a[$(curl x)]' | { read x; ((x)); }",
  "declare -i n; for n in 'a[$(curl x)]'; do :; done",
  `echo "b $$(echo "\${x:-'$(curl x)'}")"`,
  `echo "\${x:-'$(echo $(( $(echo \${@:-\\curl x)}) )))'}"`,
];

suite("5.2: what bash would run is found where a reader may miss it", () => {
  const judge = scene.judge({ mode: "yolo", permissions: { deny: ["Shell(curl)"] } });
  for (const text of HIDDEN_SUBSTITUTIONS)
    test(`${JSON.stringify(text)} is not let through by yolo`, () => assert.notEqual(judge(text).verdict, "allow"));
});

/** Whatever may stand before a redirection and be redirected by it. */
const REDIRECTED: readonly string[] = [
  "echo x",
  "{ echo x; }",
  "(echo x)",
  "for i in 1; do echo x; done",
  "while true; do echo x; done",
  "if true; then echo x; fi",
  "case a in a) echo x;; esac",
  "[[ a ]]",
  "((1))",
  "! { echo x; }",
  "time { echo x; }",
  "coproc { echo x; }",
  "f() { echo x; }",
  "exec",
  "",
  "x=1",
];

suite("3.1: a redirection is a write, whatever it stands on", () => {
  const judge = scene.judge({ mode: "yolo" });
  const around: readonly (readonly [string, (text: string) => string])[] = [
    ["alone", (text) => text],
    ["in a shell", (text) => `bash -c ${singleQuoted(text)}`],
    ["in a substitution", (text) => `echo $(${text})`],
    ["in a group", (text) => `{ ${text}; }`],
  ];
  for (const redirected of REDIRECTED)
    for (const [where, put] of around)
      test(`'${redirected} > FILE' ${where} is denied for Assent's own files and asked about for control files`, () => {
        for (const op of [">", ">>", ">|", "&>", "2>", "<>"]) {
          const own = judge(put(`${redirected} ${op} .assent/settings.json`));
          const control = judge(put(`${redirected} ${op} .git/hooks/pre-push`));
          assert.deepEqual([own.verdict, control.verdict], ["deny", "ask"], op);
        }
      });
});

/** Lines by which a protected file may be touched though its name is nowhere in them; `..` holds the store. */
const TOUCHING: readonly (readonly [line: string, guard: string])[] = [
  ["echo x > .g*/config", "control-file"],
  ["echo x > .gi?/config", "control-file"],
  ["{ echo x; } > s*/.git/config", "control-file"],
  ["tee .g*/config", "control-file"],
  ["git clone https://example.test/x ~/.config", "control-file"],
  ["git remote add other ext::x", "control-file"],
  ["git remote set-url origin ext::x", "control-file"],
  ["git branch -u origin/main", "control-file"],
  ["git branch --set-upstream-to=origin/main", "control-file"],
  ["git submodule add https://example.test/x x", "control-file"],
  ["dd $X", "deny-in-doubt"],
  ["dd if=README.md o$X", "deny-in-doubt"],
  ["ls | xargs dd", "deny-in-doubt"],
  ["cat ../sto*/ledger.db", "deny-in-doubt"],
  ["cat ../?tore/ledger.db", "deny-in-doubt"],
  ["cat < ../st*/ledger.db", "deny-in-doubt"],
  ["cat ../st$X/ledger.db", "deny-in-doubt"],
];

/** Lines of the same form that touch none. */
const NOT_TOUCHING: readonly string[] = [
  "rm -f *.log",
  "sed -i s/a/b/ src/*.ts",
  "sed -i s/a/b/ *.md",
  "touch src/$X.ts",
  "dd if=README.md of=copy",
  'dd if="$X" of=copy',
  "git init",
  "git init sub",
  "git clone https://example.test/x",
  "git remote -v",
  "git branch -a",
  "git push -u origin main",
  "cat *.md",
  "cat ../out*/secret",
  "ls $X",
];

suite("3.1: what a guard closes is asked about when only a shell could tell that it is meant", () => {
  const judge = scene.judge({ mode: "yolo" });
  for (const [text, guard] of TOUCHING)
    test(`${text}: safeguard:${guard}`, () => {
      const { verdict, reason, source } = judge(text);
      assert.deepEqual([verdict, reason, source], ["ask", "guard", guard]);
    });
  for (const text of NOT_TOUCHING) test(`${text} is let through by yolo`, () => assert.equal(judge(text).verdict, "allow"));
});

suite("2.3: what an allow means", () => {
  const judge = scene.judge({ permissions: { allow: ["Shell(git *)"] } });
  test("a remote by its name is not a directory of the workspace", () => {
    for (const text of ["git fetch src", "git fetch -p src", "git pull src", "git ls-remote src"])
      assert.equal(judge(text).verdict, "ask", text);
    assert.equal(judge("git fetch origin").verdict, "allow");
  });
});

/** Commands that the read-only hint allows, without quotes, globs or operators: each character of them is itself. */
const ALLOWED: readonly string[] = [
  "ls -la src",
  "cat README.md src/run.ts",
  "head -n 5 README.md",
  "grep -rn TODO src",
  "find src -type f -name run.ts",
  "git status --short",
  "git log --oneline -5",
  "git diff HEAD~1 -- src/index.ts",
  "sed -n 1,3p README.md",
  "wc -l data/rows.csv",
  "sort -t , -k 2 data/rows.csv",
  "echo hello world",
];

const ALLOWING = MODES.map((mode) => [mode, scene.judge({ mode })] as const);

/** Never in a plain line outside quotes. */
const NEVER_PLAIN = [..."$`&<>(){}[]!", "\r", "\u0000", "\u001b", "\u00a0", "\u200b", "\u202e", "\u2066", "\u0430", "é", "\u{e0069}"];

const ASSIGNMENTS = ["A=b", "A=", "A+=b", "A[0]=b", "PATH=.", "GIT_PAGER=./x", "LD_PRELOAD=./x.so"];

const REDIRECTIONS = [
  "> f",
  ">> f",
  "2> f",
  "< f",
  "<> f",
  "&> f",
  ">& f",
  ">| f",
  "2>>f",
  "<<< f",
  "3>&1",
  "2>&-",
  "{fd}> f",
  "> /dev/tcp/h/80",
];

const HARMLESS_REDIRECTIONS = ["2>&1", "1>&2", ">/dev/null", "2>/dev/null", "</dev/null"];

const SUBSTITUTIONS = [
  "$(id)",
  "`id`",
  "<(id)",
  ">(id)",
  "$x",
  `\${x}`,
  '"$x"',
  '"$(id)"',
  "$((1))",
  "$[1]",
  "$'x'",
  '$"x"',
  "{a,b}",
  "~",
  `\${x:-$(id)}`,
  "*",
  "[a]",
];

function allowedByRules({ verdict, reason }: { readonly verdict: string; readonly reason: string }): boolean {
  return verdict === "allow" && reason !== "yolo";
}

/** In no mode do rules or the hint let it pass, and plan mode does not at all. */
function assertNotAllowed(judge: Judge, text: string, mode: string): void {
  const judged = judge(text);
  assert.equal(allowedByRules(judged), false, `${mode}: ${JSON.stringify(text)}`);
  if (mode === "plan") assert.equal(judged.verdict, "deny", text);
}

function wordsOf(judge: Judge, text: string): readonly (readonly string[])[] {
  const { plan } = judge(text);
  return (plan?.commands ?? []).map(({ argv }) => argv.map(({ text: word }) => word));
}

/** The text with something put between two of its words, or before the first, or behind the last. */
function withAdded(text: string, added: string, at: number): string {
  const words = text.split(" ");
  return words.toSpliced(at % (words.length + 1), 0, added).join(" ");
}

const place = fc.nat({ max: 1000 });
const allowed = fc.constantFrom(...ALLOWED);
const inMode = fc.constantFrom(...ALLOWING);

/** Something to add, and where. */
function addition(among: readonly string[]): fc.Arbitrary<{ readonly added: string; readonly at: number }> {
  return fc.record({ added: fc.constantFrom(...among), at: place });
}

suite("policy.md 11 b: what is added to an allowed command is not allowed with it", () => {
  test("the commands themselves are allowed, in every mode", () => {
    for (const text of ALLOWED) for (const [mode, judge] of ALLOWING) assert.equal(judge(text).verdict, "allow", `${mode}: ${text}`);
  });

  test("an assignment before it or as a command of its own", () => {
    fc.assert(
      fc.property(allowed, fc.constantFrom(...ASSIGNMENTS), inMode, (text, assignment, [mode, judge]) => {
        for (const all of [`${assignment} ${text}`, `${assignment}; ${text}`, `${text}; ${assignment}`, `export ${assignment}; ${text}`])
          assertNotAllowed(judge, all, mode);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test("a redirection at any place", () => {
    fc.assert(
      fc.property(allowed, addition(REDIRECTIONS), inMode, (text, { added, at }, [mode, judge]) =>
        assertNotAllowed(judge, withAdded(text, added, at), mode),
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  test("a redirection to or from the null device changes no word", () => {
    fc.assert(
      fc.property(allowed, addition(HARMLESS_REDIRECTIONS), inMode, (text, { added, at }, [, judge]) => {
        const all = withAdded(text, added, at);
        if (allowedByRules(judge(all))) assert.deepEqual(wordsOf(judge, all), wordsOf(judge, text));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test("a substitution, an expansion or a pattern at any place, as a word or inside one", () => {
    fc.assert(
      fc.property(allowed, addition(SUBSTITUTIONS), inMode, (text, { added, at }, [mode, judge]) => {
        assertNotAllowed(judge, withAdded(text, added, at), mode);
        if (added !== "~" && added !== "*") assertNotAllowed(judge, text + added, mode);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test("a character that is in no plain line, at any place", () => {
    fc.assert(
      fc.property(allowed, addition(NEVER_PLAIN), inMode, (text, { added: character, at }, [mode, judge]) => {
        const index = at % (text.length + 1);
        assertNotAllowed(judge, text.slice(0, index) + character + text.slice(index), mode);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  test("any text at any place: what is still allowed is read the same when each of its words is quoted", () => {
    const judge = scene.judge({});
    fc.assert(
      fc.property(allowed, fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...ANY) }), place, (text, added, at) => {
        const index = at % (text.length + 1);
        const all = text.slice(0, index) + added + text.slice(index);
        const judged = judge(all);
        if (judged.verdict !== "allow" || !judged.plan) return;
        const again = judge(rendered(judged.plan.commands));
        assert.deepEqual([again.verdict, again.plan?.digest], ["allow", judged.plan.digest], JSON.stringify(all));
      }),
      { seed: SEED, numRuns: 1500 },
    );
  });
});

const ANY = [
  ..." \t\n;|&'\"\\#=~*?-/.a0_^%:,@+!$`(){}[]<>",
  "2>&1",
  " >/dev/null",
  " && ",
  " | ",
  " || ",
  "; ",
  "\\\n",
  " \\\n",
  "cd src && ",
  "--",
  "''",
];

type Commands = NonNullable<ReturnType<Judge>["plan"]>["commands"];

/** A plan written as a line again: each word in quotes, joined as it was. */
function rendered(commands: Commands): string {
  return commands
    .map(({ argv, path, redirections }, i) => {
      const words = argv.map(({ text }) => singleQuoted(text));
      const targets = redirections.map(({ fd, op, target }) =>
        op === ">&" ? `${fd}>&${target}` : `${fd === "2" ? "2" : ""}${op}${target}`,
      );
      return `${i === 0 ? "" : joinOf(path)}${[...words, ...targets].join(" ")}`;
    })
    .join("");
}

/** How a command is joined to the one before it: by the innermost list in which it is not the first. */
function joinOf(path: readonly string[]): string {
  const step = path.findLast((label) => !label.endsWith("[0]")) ?? ";[1]";
  return ` ${step.slice(0, step.indexOf("["))} `;
}

/** Modelled programs that would write, start another program, look outside, tell secrets, or never end. */
const MORE_THAN_READING: readonly string[] = [
  "cat out/secret",
  "cat links/secret",
  "cat links/*",
  "cat ../outside/secret",
  "cat in/../../outside/secret",
  "cat .env",
  "cat ./.e*",
  "cat .git/config",
  "cat /proc/self/environ",
  "cd out && ls",
  "cd links && cat secret",
  "diff links copies",
  "diff links copies/secret",
  "diff copies/secret links",
  "diff -r links copies",
  "diff --from-file=links copies/secret",
  "diff -l README.md docs/guide.md",
  "grep -R x links",
  "grep -f .env README.md",
  "grep -rn KEY --include=.env .",
  "rg -L x links",
  "rg --pre ./x y",
  "rg -g .env KEY",
  "find -L links",
  "find out -name x",
  "find . -newer out/secret",
  "find . -name x -exec rm {} +",
  "find . -name x -delete",
  "find . -fprint x",
  "ls -LR links",
  "du -L links",
  "tree -l links",
  "tree -o x",
  "sort -o x README.md",
  "sort -uo x README.md",
  "sort --compress-program=./x README.md",
  "sort --files0-from=README.md",
  "uniq README.md x",
  "tail -f logs/app.log",
  "tail -5f logs/app.log",
  "tail +2f logs/app.log",
  "tail -n 5 --follow logs/app.log",
  "seq 1 inf",
  "date -s tomorrow",
  "file -C -m x",
  "wc --files0-from=README.md",
  "sed -n p README.md -i",
  "sed -n 'w x' README.md",
  "sed -n 's/a/b/w x' README.md",
  "sed -n 's/a/id/e' README.md",
  "sed -n 'r /etc/passwd' README.md",
  "sed -i s/a/b/ README.md",
  "awk 'BEGIN { system(\"id\") }'",
  "awk '{ print > \"x\" }' README.md",
  "awk '{ print | \"sh\" }' README.md",
  "awk 'BEGIN { print ENVIRON[\"HOME\"] }'",
  "awk -f x README.md",
  "jq -n env",
  "jq -n '$ENV.HOME'",
  "jq -n '$ ENV.HOME'",
  "jq -n '$#\nENV.HOME'",
  "jq -n 'import \"x\" as x; 1'",
  "jq --rawfile a .env . package.json",
  "printf -v x y",
  "npm ls --prefix out",
  "npm test -- --x",
  "npm run build",
  "node -e 1",
  "python3 -c 1",
  "git -C out status",
  "git -c core.pager=./x log",
  "git --git-dir=out log",
  "git log --output=x",
  "git log --outpu=x",
  "git log --ext-diff",
  "git log --show-signature",
  "git log --format=%G?",
  "git log --pretty=mine",
  "git log --diff-merges=remerge",
  "git log --remerge-diff",
  "git log -Oorder",
  "git diff --no-index README.md docs/guide.md",
  "git diff README.md ../outside/secret",
  "git diff --textconv",
  "git show HEAD:.env",
  "git cat-file --textconv HEAD:README.md",
  "git blame --contents x README.md",
  "git grep -O./x TODO",
  "git grep --no-index TODO",
  "git rev-parse --show-superproject-working-tree",
  "git describe --dirty",
  "git branch new",
  "git branch -D main",
  "git branch '--format=%(*describe)'",
  "git tag new",
  "git config user.name x",
  "git config --list",
  "git config --get credential.helper",
  "git remote show origin",
  "git ls-remote",
  "git fetch",
  "git stash",
  "git checkout main",
];

suite("5.6: what does more than read is not proven to be read-only", () => {
  for (const text of MORE_THAN_READING)
    test(`${JSON.stringify(text)} is not allowed by the hint, and plan mode denies it`, () => {
      for (const [mode, judge] of ALLOWING) assertNotAllowed(judge, text, mode);
    });
});

/** What costs most to read, by the piece. */
const PIECES: readonly string[] = [
  ...["{", "}", "(", ")", "[", "((", "[[ ", "$(", "$((", "$[", "a[", "a[$(", "@(", "<(", "'", '"', '"$(', "\\", "`", "$'", "\\\n", "!"],
  ...[
    "f() ",
    "f() { ",
    "if ",
    "case a in ",
    "while ",
    "for i in ",
    "a=(",
    "a=b ",
    ">a ",
    "<<E\n",
    "<<E ",
    "<<<a ",
    "; ",
    "& ",
    "| ",
    "&& ",
    "~",
    "*",
  ],
  ...[
    "eval ",
    "env ",
    "sudo ",
    "timeout -x ",
    "xargs ",
    "parallel ",
    "parallel -x ",
    "sh -c ",
    "git -c alias.a=!",
    "find . -exec ",
    "rm -rf $x ",
  ],
];

suite("no text stalls or breaks the reader, and none of these is allowed", () => {
  const judge = scene.judge({ mode: "auto-edit", permissions: { allow: ["*"], deny: DENIES } });
  const texts = (piece: string): readonly string[] => {
    const all = piece.repeat(Math.ceil(LONGEST / piece.length));
    return [`ls; ${all}`.slice(0, LONGEST), `${all.slice(0, LONGEST - 8)} curl x`, piece.repeat(100)];
  };
  for (const piece of PIECES)
    test(`as much of ${JSON.stringify(piece)} as is read`, () => {
      for (const text of texts(piece)) assert.equal(allowedByRules(judge(text)), false, text.slice(0, 80));
    });

  test("five hundred substitutions in each other, and a command that is denied inside", () => {
    const text = `${"echo $(".repeat(500)}curl x${")".repeat(500)}`;
    assert.notEqual(judge(text).verdict, "allow");
    assert.equal(judge(`${"echo $(".repeat(60)}curl x${")".repeat(60)}`).verdict, "deny");
  });

  test("a megabyte is not allowed; five thousand commands of which the last is denied are denied", () => {
    assert.equal(judge("ls ".repeat(2 ** 20 / 3)).verdict, "ask");
    assert.equal(judge(`${"true;".repeat(5000)} curl x`).verdict, "deny");
  });
});
