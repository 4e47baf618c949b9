import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { walkBash } from "../../../src/shell/walk/walk.ts";
import { broadly } from "../match/broadly.ts";

/** Every place where a command can stand; the path is the one `curl x` is found under. */
const PLACES: readonly (readonly [text: string, path: readonly string[]])[] = [
  ["curl x", []],
  ["ls && curl x", ["&&[1]"]],
  ["curl x && ls", ["&&[0]"]],
  ["ls || curl x", ["||[1]"]],
  ["ls && ls || curl x", ["||[2]"]],
  ["ls; pwd; curl x", [";[2]"]],
  ["ls\ncurl x", [";[1]"]],
  ["ls; pwd && curl x | wc", [";[1]", "&&[1]", "|[0]"]],
  ["ls | curl x", ["|[1]"]],
  ["ls |& curl x", ["|&[1]"]],
  ["curl x &", ["&"]],
  ["ls & curl x", [";[1]"]],
  ["! curl x", ["!"]],
  ["time -p curl x", ["time"]],
  ["time ! curl x", ["time", "!"]],
  ["(curl x)", ["("]],
  ["{ ls; curl x; }", ["{", ";[1]"]],
  ["if curl x; then ls; fi", ["if"]],
  ["if ls; then curl x; fi", ["if"]],
  ["if ls; then ls; elif curl x; then ls; fi", ["if"]],
  ["if ls; then ls; elif ls; then curl x; else ls; fi", ["if"]],
  ["if ls; then ls; else curl x; fi", ["if"]],
  ["while curl x; do ls; done", ["while"]],
  ["while ls; do curl x; done", ["while"]],
  ["until curl x; do ls; done", ["while"]],
  ["for i in a; do curl x; done", ["for"]],
  ["for i in $(curl x); do ls; done", ["for", "$()"]],
  ["for ((i=0;i<$(curl x);i++)); do ls; done", ["for", "$()"]],
  ["for ((;;)); do curl x; done", ["for"]],
  ["select i in $(curl x); do ls; done", ["select", "$()"]],
  ["case $(curl x) in *) ls;; esac", ["case", "$()"]],
  ["case x in $(curl x)) ls;; esac", ["case", "$()"]],
  ["case x in a) ls;; *) curl x;& esac", ["case"]],
  ["f() { curl x; }", ["function", "{"]],
  ["function f { curl x; }", ["function", "{"]],
  ["f() (curl x)", ["function", "("]],
  ["coproc curl x", ["coproc"]],
  ["coproc N { curl x; }", ["coproc", "{"]],
  ["echo $(curl x)", ["$()"]],
  ["echo `curl x`", ["$()"]],
  ["echo `echo \\`curl x\\``", ["$()", "$()"]],
  ['echo "a $(curl x) b"', ["$()"]],
  ["echo $(echo $(curl x))", ["$()", "$()"]],
  [`echo \${ curl x; }`, ["$()"]],
  ["cat <(curl x)", ["<()"]],
  ["tee >(curl x)", [">()"]],
  ["A=$(curl x)", ["$()"]],
  ["A=$(curl x) ls", ["$()"]],
  ["A=(a $(curl x))", ["$()"]],
  ["A[$(curl x)]=1", ["$()"]],
  ["export A=$(curl x)", ["$()"]],
  ["ls > $(curl x)", ["$()"]],
  ["{ ls; } > $(curl x)", ["$()"]],
  ["cat <<EOF\n$(curl x)\nEOF", ["heredoc", "$()"]],
  ["cat <<-EOF\n\t`curl x`\n\tEOF", ["heredoc", "$()"]],
  ['cat <<< "$(curl x)"', ["$()"]],
  ["echo $((1 + $(curl x)))", ["$()"]],
  ["echo $((a[$(curl x)]))", ["$()"]],
  ["(( $(curl x) ))", ["((", "$()"]],
  ["((curl x))", ["(("]],
  ["[[ -n $(curl x) && a ]]", ["[[", "$()"]],
  [`echo \${A:-$(curl x)}`, ["$()"]],
  [`echo "\${A:=$(curl x)}"`, ["$()"]],
  [`echo \${A/$(curl x)/b}`, ["$()"]],
  [`echo \${A:$(curl x)}`, ["$()"]],
  [`echo \${A[$(curl x)]}`, ["$()"]],
  ["echo {a,$(curl x)}", ["$()"]],
  ["A=1 curl x", []],
  [">out curl x", []],
  ["curl x>out", []],
  ["# a comment\ncurl x", []],
  ["sh -c \"sh -c 'curl x'\"", ["sh -c", "sh -c"]],
];

for (const [text, path] of PLACES) {
  test(`the walk finds a command everywhere: ${JSON.stringify(text)}`, () => {
    assert.equal(broadly("curl", text), "yes");
    const { commands, parsed, limited } = walkBash(text);
    const found = commands.find(({ argv }) => argv[0]?.text === "curl");
    assert.deepEqual([found?.path, parsed, limited], [path, true, false]);
  });
}

test("a nested script has the labels of both", () => {
  const { commands } = walkBash("sh -c \"sh -c 'curl https://example.test'\"");
  assert.deepEqual(
    commands.map(({ path }) => path),
    [[], ["sh -c"], ["sh -c", "sh -c"]],
  );
});

test("commands are listed in text order", () => {
  const names = walkBash("a $(b); c && (d | e) & f() { g; }; h <(i)").commands.map(({ argv }) => argv[0]?.text);
  assert.deepEqual(names, ["a", "b", "c", "d", "e", "g", "h", "i"]);
});

const SPELLINGS: readonly string[] = [
  "'curl' x",
  '"cu"rl x',
  "c\\url x",
  "\\curl x",
  "cu''rl x",
  "cu\\\nrl x",
  "$'\\x63url' x",
  "$'\\143url' x",
  "$'\\u0063url' x",
  '$"curl" x',
  "c$'url' x",
  "$\\\n(curl x)",
  'echo "$\\\n(curl x)"',
];
for (const text of SPELLINGS) {
  test(`a word is read as a shell reads it: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "yes"));
}

const ODD: readonly string[] = [
  "$'\\x{63}url' x",
  "$'curl\\0' x",
  "$'curl\\ca' x",
  "~/curl x",
  "cur[l] x",
  "@(curl) x",
  "$\\\nX x",
  "{a\\\n,curl} x",
];
for (const text of ODD) {
  test(`a word that shells read differently is dynamic: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "doubt"));
}

const WORDS: readonly (readonly [word: string, text: string, dynamic: boolean])[] = [
  ["a", "a", false],
  ["'a b'", "a b", false],
  ['"a\\"b"', 'a"b', false],
  ["$'a\\tb'", "a\tb", false],
  ["HEAD~1", "HEAD~1", false],
  ["a=b", "a=b", false],
  ["{}", "{}", false],
  ["'*'", "*", false],
  ["\\*", "*", false],
  ["$X", "$X", true],
  ['"$X/y"', '"$X/y"', true],
  ["$(a)", "$(a)", true],
  ["src/*.ts", "src/*.ts", true],
  ["'a b'/*", "a b/*", true],
  ["a?", "a?", true],
  ["[ab]", "[ab]", true],
  ["{a,b}", "{a,b}", true],
  ["a{1..3}", "a{1..3}", true],
  ["~/x", "~/x", true],
  ["a=~", "a=~", true],
];
for (const [word, text, dynamic] of WORDS) {
  test(`a word is literal or dynamic: ${word}`, () => {
    assert.deepEqual(walkBash(`echo ${word}`).commands[0]?.argv[1], { text, dynamic });
  });
}

const HAZARDS: readonly (readonly [text: string, ids: readonly string[]])[] = [
  ["git status", []],
  ["ls src/*.ts", []],
  ["ls >/dev/null 2>&1 </dev/null", []],
  ["ls 1>&2 2>/dev/null", []],
  ["ls $X", ["expansion"]],
  ["ls ~", ["expansion"]],
  ["ls $((1))", ["expansion"]],
  ["ls $(a)", ["substitution"]],
  ['ls "`a`"', ["substitution"]],
  ["ls <(a)", ["substitution"]],
  ["ls {a,b}", ["brace_or_glob"]],
  ["ls [ab]", ["brace_or_glob"]],
  ["ls $'a'", ["unmodelled_construct"]],
  ["A=1 ls", ["assignment"]],
  ["A=$X ls", ["assignment", "expansion"]],
  ["A=1", ["assignment"]],
  ["ls > x", ["redirection"]],
  ["ls 2>&1 >> x", ["redirection"]],
  ["> x", ["redirection"]],
  ["ls <<< x", ["redirection"]],
  ["ls > /dev/tcp/127.0.0.1/80", ["network_redirection"]],
  ["ls 3<> /dev/udp/127.0.0.1/80", ["network_redirection"]],
  ["ls &", ["background"]],
  ["(ls *)", ["unmodelled_construct", "brace_or_glob"]],
  ["{ ls; } > x", ["redirection"]],
  ["! ls", ["unmodelled_construct"]],
  ["time ls", ["unmodelled_construct"]],
  ["if ls; then :; fi", ["unmodelled_construct"]],
  ["$X y", ["expansion", "dynamic_name"]],
];
for (const [text, ids] of HAZARDS) {
  test(`a construct adds a hazard to its command: ${text}`, () => {
    assert.deepEqual(
      walkBash(text).commands[0]?.hazards.map(({ id }) => id),
      ids,
    );
  });
}

test("a test without a command has a hazard, too", () => {
  for (const text of ["[[ -f x ]]", "(( i > 1 ))"]) {
    const { commands, hazards } = walkBash(text);
    assert.deepEqual([commands, hazards.map(({ id }) => id)], [[], ["unmodelled_construct"]]);
  }
});

test("redirections and assignments are read with their file descriptors and names", () => {
  const [seen] = walkBash('A=1 B=$X ls <in >out 2>>err &>all {fd}>y 2>&1 > "$Z" <<EOF\nEOF\n').commands;
  assert.deepEqual(seen?.assignments, [
    { name: "A", dynamic: false },
    { name: "B", dynamic: true },
  ]);
  assert.deepEqual(
    seen?.redirections.map(({ fd, op, target, dynamic }) => [fd, op, target, dynamic]),
    [
      ["0", "<", "in", false],
      ["1", ">", "out", false],
      ["2", ">>", "err", false],
      ["&", "&>", "all", false],
      ["{fd}", ">", "y", false],
      ["2", ">&", "1", false],
      ["1", ">", '"$Z"', true],
      ["0", "<<", "EOF", false],
    ],
  );
});

test("a group's redirections belong to a command without words", () => {
  for (const text of ["{ ls; } > out", "(ls) > out", "while a; do b; done > out", "[[ a ]] > out", "f() { ls; } > out"]) {
    const written = walkBash(text).commands.filter(({ redirections }) => redirections.length > 0);
    assert.deepEqual(
      written.map(({ argv, redirections }) => [argv, redirections]),
      [[[], [{ fd: "1", op: ">", target: "out", dynamic: false }]]],
      text,
    );
  }
});

const TOPS: readonly (readonly [text: string, joins: readonly (string | undefined)[]])[] = [
  ["a", ["start"]],
  ["a && b || c; d | e\nf", ["start", "&&", "||", ";", "|", ";"]],
  ["a | b && c | d", ["start", "|", "&&", "|"]],
  ["a; ! b", ["start", undefined]],
  ["a & b", [undefined, ";"]],
  ["a |& b", [undefined, undefined]],
  ["(a); b", [undefined, ";"]],
  ["sh -c a", ["start", undefined]],
  ["a $(b)", ["start", undefined]],
  ["time a | b", [undefined, undefined]],
];
for (const [text, joins] of TOPS) {
  test(`top-level commands have a number and an operator: ${JSON.stringify(text)}`, () => {
    const { commands } = walkBash(text);
    assert.deepEqual(
      commands.map(({ join }) => join),
      joins,
    );
    const tops = commands.flatMap(({ top }) => top ?? []);
    assert.deepEqual(
      tops,
      tops.map((_, i) => i),
    );
    assert.equal(tops.length, joins.filter((join) => join !== undefined).length);
  });
}

test("positions count in the given text, also inside quotes", () => {
  const text = "ls; timeout 5 sh -c 'curl $X'";
  const at = walkBash(text).commands.map((seen) => seen.at && text.slice(...seen.at));
  assert.deepEqual(at, ["ls", "timeout 5 sh -c 'curl $X'", "timeout 5 sh -c 'curl $X'", "timeout 5 sh -c 'curl $X'"]);
  for (const { hazards } of walkBash(text).commands) for (const one of hazards) assert.ok(one.at && one.at[1] <= text.length);
});

const BROKEN: readonly string[] = [
  "if true; then curl x",
  "ls & ; curl x",
  ") ; curl x",
  "git status;;curl x",
  'echo "abc; curl x',
  "echo 'a\ncurl x",
  "echo $(curl x",
  "echo `curl x",
  "case x in a) ls;; ; curl x",
  "ls && && (curl x)",
  "for i in; curl x",
  "ls )\n{ curl x",
  'ls ) "$(curl x)"',
  "f() curl x",
  "ls ) then A=1 curl x",
  "A=($(curl x))b",
  'A=(1)"`curl x`"',
];
for (const text of BROKEN) {
  test(`a text with a syntax error is still searched: ${JSON.stringify(text)}`, () => {
    const { commands, parsed, hazards } = walkBash(text);
    assert.equal(parsed, false);
    assert.ok(hazards.some(({ id }) => id === "unparsed"));
    assert.ok(commands.some(({ argv }) => argv[0]?.text === "curl" && argv[0].dynamic === false));
  });
}

test("a syntax error inside a substitution or script counts for the whole text", () => {
  for (const text of ["echo $(if; ls)", "sh -c 'ls ;; pwd'", 'echo `ls "`']) assert.equal(walkBash(text).parsed, false, text);
});

test("quoted data in a text with a syntax error is not a command", () => {
  assert.equal(
    walkBash("echo 'a; curl x' ;; ls").commands.some(({ argv }) => argv[0]?.text === "curl"),
    false,
  );
});

const UNPROTECTED: readonly string[] = [
  "echo $(( '$(curl x)' ))",
  "echo $(( a['`curl x`'] ))",
  "echo $(( 1 + '$(curl x)' * 2 ))",
  "(( '$(curl x)' ))",
  "echo $[ '$(curl x)' ]",
  "for ((i='$(curl x)';i<1;i++)); do :; done",
  "for ((i=0;i<'$(curl x)';i++)); do :; done",
  "for ((i=0;i<1;i+='$(curl x)')); do :; done",
  "a['$(curl x)']=1",
  "a['<(curl x)']=1",
  'a["\\$(curl x)"]=1',
  "a[\\$(curl x)]=1",
  "declare a['$(curl x)']=1",
  "a=(['$(curl x)']=1)",
  "a=([$'\\x24(curl x)']=1)",
  `echo "\${a['$(curl x)']}"`,
  `echo \${a['$(curl x)']}`,
  `echo \${a['$(curl x)']:-y}`,
  `echo \${!a['$(curl x)']}`,
  `echo \${#a['$(curl x)']}`,
  `echo \${a[$'\\x24(curl x)']}`,
  `echo \${a[$'\\u0024(curl x)']}`,
  `echo \${x:'$(curl x)'}`,
  `echo \${x:0:'$(curl x)'}`,
  `echo "\${x:-'$(curl x)'}"`,
  `echo "\${x:-\${y:-'$(curl x)'}}"`,
  `cat <<E\n\${x:-'$(curl x)'}\nE`,
  `cat <<E\n\${a['$(curl x)']}\nE`,
  "[[ a['$(curl x)'] -eq 1 ]]",
  "[[ -v a['$(curl x)'] ]]",
  "bash -c \"(( '\\$(curl x)' ))\"",
];
for (const text of UNPROTECTED) {
  test(`quotes do not protect what a shell evaluates: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "yes"));
}

const EVALUATED_LATER: readonly string[] = [
  "declare -i n; n='a[$(curl x)]'",
  "declare -i n=1; n+='a[$(curl x)]'",
  "declare -ia n=('a[$(curl x)]')",
  "OPTIND='a[$(curl x)]'",
  "n='a[`curl x`]' ls",
  "n=a[\\$(curl x)]",
  'n="a[\\$(curl x)]"',
];
for (const text of EVALUATED_LATER) {
  test(`a value with a subscript may be evaluated later: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "yes"));
}

const UNKNOWN_VALUES: readonly string[] = [
  `x='$(curl x)'; echo "\${x@P}"`,
  `echo \${x@P}`,
  `echo "\${x[0]@P}"`,
  `cat <<E\n\${x@P}\nE`,
  `echo \${a[$'\\x{24}(curl x)']}`,
];
for (const text of UNKNOWN_VALUES) {
  test(`a value that is expanded again leaves doubt: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "doubt"));
}

test("a substitution in such quotes leaves doubt even if no rule names its command", () => {
  for (const text of [...UNPROTECTED, ...EVALUATED_LATER].filter((one) => !/"\$\{x:-|bash -c/.test(one)))
    assert.notEqual(broadly("wget", text), "no", text);
});

const PROTECTED: readonly string[] = [
  "echo '$(curl x)'",
  `echo \${x:-'$(curl x)'}`,
  "x='$(curl x)'",
  "echo $(( $(date +'%s') - 5 ))",
  "echo $(( (1 + 2) > (3) ))",
  'x="[$(date)] said"',
  "for ((i=0;i<3;i++)); do echo 'a'; done",
  `echo "\${x:-'a b'}"`,
  `echo "\${a[0]}" \${a['k']} \${x:1:2} "\${x@Q}"`,
  "a=([0]=x ['k']='y')",
  "[[ $x =~ ^[a-z]+$ ]]",
  "cat <<'E'\n$(( '$(curl x)' ))\nE",
];
for (const text of PROTECTED) {
  test(`what a shell does not evaluate leaves no doubt: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "no"));
}

test("nesting beyond the limit is reported, and what was found counts", () => {
  const deep = (levels: number): string => `curl x; ${"( ".repeat(levels)}ls${" )".repeat(levels)}`;
  assert.equal(walkBash(deep(99)).limited, false);
  assert.equal(walkBash(deep(101)).limited, true);
  assert.equal(broadly("curl", deep(101)), "yes");
});

test("wrappers in wrappers are limited as well", () => {
  assert.equal(broadly("curl", `${"nice ".repeat(90)}curl x`), "yes");
  assert.equal(walkBash(`${"nice ".repeat(110)}curl x`).limited, true);
  assert.equal(walkBash(`${"eval ".repeat(110)}curl x`).limited, true);
});

test("a text that is broken in every layer is searched once", () => {
  assert.ok(walkBash('"$('.repeat(1_365)).commands.length < 2_000);
});

test("guesses at commands do not multiply", () => {
  const text = `${"timeout -Z ".repeat(20)}curl x`;
  assert.deepEqual([walkBash(text).limited, broadly("curl", text)], [false, "yes"]);
});

test("scripts beyond the limit are reported, and what was found counts", () => {
  const many = (count: number): string => "sh -c a;".repeat(count);
  assert.equal(walkBash(many(200)).limited, false);
  assert.equal(walkBash(many(201)).limited, true);
  assert.equal(broadly("curl", `curl x;${many(210)}`), "yes");
});

const HOSTILE: readonly string[] = [
  "f() ".repeat(1_024),
  "{".repeat(1_500),
  "$[".repeat(700),
  "a[".repeat(2_048),
  "(".repeat(4_096),
  "$(".repeat(2_048),
  "`".repeat(4_095),
  '"$('.repeat(1_365),
  `\${a:-`.repeat(819),
  "<<a ".repeat(1_024),
  "\\\n".repeat(2_048),
  "'".repeat(4_095),
  "!".repeat(4_096),
  "((".repeat(2_048),
  "[[ ( ".repeat(819),
  "1+".repeat(10) + "$((1".repeat(800),
  "if ".repeat(1_365),
  "timeout -Z ".repeat(370),
  "env -S 'env -S ".repeat(270),
  "\0\ud800\u0000",
];
for (const text of HOSTILE) {
  test(`no text makes the walk throw: ${JSON.stringify(text.slice(0, 12))} many times`, () => {
    const { commands } = walkBash(text);
    assert.ok(Array.isArray(commands));
  });
}

/** Texts of which a naive walk makes more and more; each is repeated up to the longest text that is read. */
const GROWING: readonly string[] = [
  ...[
    "parallel ",
    "parallel -x ",
    "sudo ",
    "env ",
    "nice ",
    "xargs ",
    "time ",
    "! ",
    "{ ",
    "((",
    "[[ ",
    "<<a ",
    "`",
    "$[",
    `\${a[`,
    "find -exec ",
  ],
  ...["a[$(", '"$(', "$(", "<(", "@(", "+(", "f() ", "(", "a|", "a;", "$(a;", "'$(", "[$(", "$(('$(", "a['$(", "[[ a[$( ", "coproc "],
  ...[
    "timeout -Z ",
    "sudo -Z ",
    "xargs -Z ",
    "env -S 'env -S ",
    "eval ",
    "watch ",
    "su -c ",
    "alias a=",
    "PS1=",
    "sh<<a\n",
    "git submodule foreach ",
  ],
  ...[
    "declare a[$( ",
    "test a[$(",
    "declare 'a[$(b)]' ",
    "x='a[$(b)]' ",
    `\${x@P}`,
    "[[ 'a[$(b)]' ]];",
    "parallel '{}' a ",
    "git -c alias.x=!a ",
  ],
];
for (const part of GROWING) {
  test(`the work of the walk is bounded: ${JSON.stringify(part)} many times`, () => {
    for (const length of [1_000, 4_096]) {
      const { commands } = walkBash(part.repeat(Math.floor(length / part.length)));
      assert.ok(commands.length <= 4_096, `${commands.length} commands`);
      const steps = commands.reduce((sum, { argv }) => sum + 1 + argv.length, 0);
      assert.ok(steps <= 8_192, `${steps} steps`);
      const deepest = Math.max(0, ...commands.map(({ path }) => path.length));
      assert.ok(deepest <= 300, `${deepest} labels`);
    }
  });
}

test("beyond a limit the walk ends and reports it", () => {
  const names = (text: string): readonly (string | undefined)[] => walkBash(text).commands.map(({ argv }) => argv[0]?.text);
  const many = "eval ".repeat(700);
  assert.equal(walkBash(`curl x; ${many}; ls`).limited, true);
  assert.deepEqual([names(`curl x; ${many}; ls`)[0], names(`curl x; ${many}; ls`).includes("ls")], ["curl", false]);
  assert.deepEqual([broadly("curl", `curl x; ${many}`), broadly("wget", `curl x; ${many}`)], ["yes", "doubt"]);
});

test("texts that are parsed again share one limit, substitutions included", () => {
  for (const part of ["eval ", "watch ", "$( "]) {
    const { commands, limited } = walkBash(`${part.repeat(Math.floor(4_000 / part.length))}ls`);
    assert.deepEqual([limited, commands.length < 12], [true, true], `${part} ${commands.length}`);
  }
});

test("too many words to unwrap do not hide later commands", () => {
  const text = `${"sudo ".repeat(700)}; curl x`;
  assert.deepEqual([walkBash(text).limited, broadly("curl", text)], [true, "yes"]);
});

test("a long plain text is within the limits", () => {
  for (const text of [`${"a;".repeat(2_044)}curl x`, `bash -c '${"a b;".repeat(1_000)}curl x'`, `echo ${"$a".repeat(2_000)}; curl x`])
    assert.deepEqual([walkBash(text).limited, broadly("curl", text)], [false, "yes"]);
});

test("only the first of too many readings of a wrapper are tried", () => {
  const text = `timeout -Z curl x ${"a ".repeat(2_000)}`;
  assert.deepEqual([walkBash(text).limited, broadly("curl", text)], [true, "yes"]);
});

test("the walk returns a result for any text", () => {
  const token = fc.constantFrom(
    ..."curl ls ' \" ` $( ) $ { } {a ; & | && \n \\ \\\n << <<< <( > # ! ( [[ ]] (( )) $x = a[ ] if then fi do done case in esac eval bash -c env".split(
      " ",
    ),
    " ",
    "\n",
    "\\\n",
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
      const { commands, parsed } = walkBash(tokens.join(""));
      assert.equal(typeof parsed, "boolean");
      for (const { argv, inside } of commands) assert.ok(argv.length >= 0 && (inside === undefined || inside < commands.length));
    }),
  );
});

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Ways to put a command into a text that keep it literal. */
const AROUND: readonly (readonly [name: string, around: (command: string) => string])[] = [
  ["in a subshell", (d) => `( ${d} )`], // with blanks: `((` would be arithmetic
  ["in a group", (d) => `{ ${d}; }`],
  ["in the background", (d) => `${d} &`],
  ["after &&", (d) => `x && ${d}`],
  ["in a script", (d) => `bash -c ${quoted(d)}`],
  ["under timeout", (d) => `timeout 5 sh -c ${quoted(d)}`],
  ["under env", (d) => `env bash -c ${quoted(d)}`],
  ["in a substitution", (d) => `echo $( ${d} )`],
  ["in quotes", (d) => `echo "$( ${d} )"`],
  ["after a newline", (d) => `x\n${d}`],
  ["after 60 commands", (d) => `${"true && ".repeat(60)}${d}`],
  ["in a function", (d) => `f() { ${d}; }`],
  ["in a loop", (d) => `while true; do ${d}; done`],
  ["after eval", (d) => `eval ${quoted(d)}`],
  ["in a here-document", (d) => `bash <<'END'\n${d}\nEND\n`],
  ["in a trap", (d) => `trap ${quoted(d)} EXIT`],
];

const DENIED: readonly (readonly [rule: string, command: string])[] = [
  ["curl", "curl https://example.test"],
  ["git push --force", "git -C . push origin -f"],
  ["git push * +*", "git push origin +main"],
  ["rm -rf", "rm -r --force x"],
];

for (const [name, around] of AROUND) {
  test(`a denied command stays denied ${name}`, () => {
    for (const [rule, command] of DENIED) assert.equal(broadly(rule, around(command)), "yes", around(command));
  });
}

test("a denied command stays denied under timeout and env", () => {
  for (const [rule, command] of DENIED) {
    for (const before of ["timeout 5", "env", "env A=1", "nice -n 5", "sudo -u root --"])
      assert.equal(broadly(rule, `${before} ${command}`), "yes");
  }
});

test("a denied command stays denied, however its words are quoted", () => {
  const spellings = [
    quoted,
    (letter: string): string => `"${letter}"`,
    (letter: string): string => `\\${letter}`,
    (letter: string): string => `$'${letter}'`,
  ];
  const quoting = fc.array(fc.nat({ max: 4 }), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...DENIED), quoting, ([rule, command], choices) => {
      const spelled = [...command]
        .map((letter, i) => (letter === " " ? letter : (spellings[choices[i] ?? 4]?.(letter) ?? letter)))
        .join("");
      assert.equal(broadly(rule, spelled), "yes", spelled);
    }),
  );
});

test("a denied command stays denied in any nesting", () => {
  const nesting = fc.array(fc.constantFrom(...AROUND), { maxLength: 5 });
  fc.assert(
    fc.property(fc.constantFrom(...DENIED), nesting, ([rule, command], layers) => {
      const text = layers.reduce((inner, [, around]) => around(inner), command);
      if (text.length <= 4_096) assert.notEqual(broadly(rule, text), "no", text);
    }),
  );
});
