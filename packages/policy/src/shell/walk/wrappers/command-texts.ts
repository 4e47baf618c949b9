import { type OptionTable, optionTable, scanOptions, type WrapperSpec } from "../../programs/option-scan.ts";
import { literalWord, parseBash, type ShellWord } from "../../read/bash-tree.ts";
import { splitTolerant } from "../../read/tolerant-split.ts";
import { type Inner, joined, scriptOf, together, type Unwrapped, type Wrapping } from "./unwrapped.ts";

/** Programs that run the value of an option, and no other argument, as a command. */
export const OPTION_COMMANDS: Readonly<Record<string, WrapperSpec>> = {
  tar: {
    scripts: "-I --use-compress-program --to-command -F --info-script --new-volume-script --rmt-command --rsh-command",
    ...tarOptions(),
  },
  rsync: { scripts: "-e --rsh --rsync-path", values: "-f --filter -T --temp-dir -B --block-size -M --remote-option --exclude --include" },
  zip: { scripts: "-TT --unzip-command", values: "-b --temp-path -i -x -n -t -tt" },
  nodemon: { scripts: "-x --exec", values: "-e --ext -w --watch -i --ignore -d --delay -C --cwd -s --signal --config" },
  chokidar: { scripts: "-c --command", values: "-d --debounce -t --throttle -i --ignore" },
  "nix-shell": { scripts: "--run --command", values: "-p --packages -A --attr -I -i --keep --arg --argstr" },
  vagrant: { scripts: "-c --command" },
  sort: { scripts: "--compress-program", values: "-k --key -t --field-separator -o --output -S --buffer-size -T --temporary-directory" },
  split: { scripts: "--filter", values: "-a -b -C -l -n -t" },
  rg: { scripts: "--pre --hostname-bin", values: "-e --regexp -f --file -g --glob -t --type -A -B -C -m" },
  ...Object.fromEntries(["ag", "ack", "bat", "delta"].map((name) => [name, { scripts: "--pager" }])),
  man: { scripts: "-P --pager -H --html" },
  fzf: { scripts: "--preview", values: "-q --query -f --filter --prompt --header" },
  go: { scripts: "-exec -toolexec -vettool --exec --toolexec --vettool", values: "-run -o -tags -C" },
  ...Object.fromEntries(["nc", "ncat", "netcat"].map((name) => [name, { scripts: "-e -c --exec --sh-exec", values: "-p -s -w" }])),
  ...Object.fromEntries(["socat", "apt", "apt-get"].map((name) => [name, {}])),
};

/** Commands in one word of such a program, where they stand behind a sign of its own. */
const OPTION_TEXTS: Readonly<Record<string, RegExp>> = {
  tar: /^(?:--checkpoint-a[a-z]*=)?exec=([\s\S]*)$/,
  zip: /^-TT=?([\s\S]+)$/,
  go: /^--?(?:exec|toolexec|vettool)=([\s\S]*)$/,
  fzf: /(?:execute(?:-silent)?|become|reload|transform)[([{:]([^)\]}]*)/,
  socat: /^(?:exec|system|shell):([^,]+)/i,
  apt: /-Invoke[\w:-]*=([\s\S]+)$/,
  "apt-get": /-Invoke[\w:-]*=([\s\S]+)$/,
};

function tarOptions(): WrapperSpec {
  return { values: "-f --file -C --directory -T --files-from -X --exclude-from --checkpoint-action -b -g -K -L -N -V -H" };
}

/** The texts that options name. Options count wherever they stand. */
export function unwrapOptions(spec: WrapperSpec): (wrapping: Wrapping) => Unwrapped {
  let table: OptionTable | undefined;
  return ({ name, words }) => {
    table ??= optionTable({ ...spec, permuted: true, rest: "nothing" });
    const { found } = scanOptions(table, words, 1);
    const texts = found.flatMap(({ kind, value }) => (kind === "script" && value ? [scriptOf(name, value)] : []));
    const pattern = OPTION_TEXTS[name];
    const inWords = pattern ? words.slice(1).flatMap((word) => textIn(name, word, pattern)) : [];
    return together([...texts, ...inWords, ...(name === "tar" ? tarTexts(words) : [])]);
  };
}

/** Letters without a dash, whose values follow in their order. */
function tarTexts(words: readonly ShellWord[]): readonly Unwrapped[] {
  return /^[a-zA-Z]*[IF][a-zA-Z]*$/.test(words[1]?.value ?? "") ? words.slice(2).map((word) => scriptOf("tar", word)) : [];
}

/** The first group of a pattern that matches a word, as a script. */
function textIn(label: string, word: ShellWord, pattern: RegExp): readonly Unwrapped[] {
  const text = pattern
    .exec(word.value)
    ?.slice(1)
    .find((group) => group !== undefined);
  return text === undefined ? [] : [scriptOf(label, { ...word, value: text })];
}

const SSH_COMMAND = /^(?:-[a-zA-Z0-9]*o)?\s*(?:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)\s*[=\s]\s*([\s\S]+)$/i;

/** `-o ProxyCommand=TEXT` of ssh and related programs, and the program that scp and sftp use instead of ssh. */
export function unwrapSsh({ name, words }: Wrapping): Unwrapped {
  const options = words.slice(1).flatMap((word) => textIn(name, word, SSH_COMMAND));
  const programs = name === "ssh" ? [] : words.slice(1).flatMap((word, i) => programAfter(word, words[i + 2]));
  return together([...options, ...programs.map((word) => scriptOf(name, word))]);
}

function programAfter({ value, ...word }: ShellWord, next: ShellWord | undefined): readonly ShellWord[] {
  if (/^-[a-zA-Z]*[SD]$/.test(value)) return next ? [next] : [];
  return /^-[SD]./.test(value) ? [{ ...word, value: value.slice(2) }] : [];
}

/** Programs among whose words several may be texts of commands: every word is looked at as one, and every place as the start of a command. */
export const TEXT_TAKERS: readonly string[] = [
  ...[
    "nix",
    "guix",
    "tmux",
    "screen",
    "byobu",
    "zellij",
    "dtach",
    "abduco",
    "hyperfine",
    "concurrently",
    "watchexec",
    "onchange",
    "reflex",
    "when-changed",
  ],
  ...[
    "lldb",
    "xterm",
    "gnome-terminal",
    "konsole",
    "alacritty",
    "kitty",
    "foot",
    "wezterm",
    "start-stop-daemon",
    "daemonize",
    "run-one",
    "pm2",
  ],
  ...["pwsh", "powershell", "cmd", "wsl", "nu", "xonsh", "elvish", "bwrap", "chpst", "envdir", "setuidgid", "softlimit", "s6-setuidgid"],
  ...["consul", "teller", "tox", "urxvt", "flatpak-spawn"],
];

/** Options whose value is the name of a session, a window or a process. */
const NAMES: Readonly<Record<string, RegExp>> = { tmux: /^-[a-zA-Z]*[tsnLS]$/, screen: /^-[a-zA-Z]*[Stprx]$/, pm2: /^(?:-n|--name)$/ };

/** Every word may be or start a command, also after sub-commands of tmux and screen that take none. */
export function unwrapTexts({ name, words, openEnd }: Wrapping): Unwrapped {
  const found = words.slice(1).flatMap((word, i): Unwrapped[] => {
    const { value } = word;
    const text = /^--?[\w-]+=([\s\S]*)$/.exec(value)?.[1];
    if (text !== undefined) return [scriptOf(name, { ...word, value: text })];
    if (value.startsWith("-") || value === ";" || NAMES[name]?.test(words[i]?.value ?? "")) return [];
    if (/\s/.test(value)) return name === "tmux" ? [scriptOf(name, word), ...tmuxTexts(word)] : [scriptOf(name, word)];
    return [{ inner: [{ label: name, words, from: i + 1, openEnd, guess: true }] }];
  });
  return together(found);
}

/** A word of tmux may be a command of its own with a text in it: `run-shell "TEXT"`. */
function tmuxTexts(word: ShellWord): readonly Unwrapped[] {
  const isCommand = /^\s*(?:run|if|new|neww|split|respawn|pipe|display-popup|popup)[\w-]*\s/.test(word.value);
  return isCommand ? [scriptOf("tmux", { ...word, value: `tmux ${word.value}` })] : [];
}

const DEBUGGER_COMMAND =
  /^(?:--?(?:ex|iex|eval-command|init-eval-command|one-line)=)?\s*(?:shell|!|pipe|platform\s+shell|process\s+launch\s+--)\s*([\s\S]+)$/;

/** `gdb --args COMMAND`, `-ex 'shell TEXT'`, and `-ex run PROGRAM`: which free word is the program depends on the options before it. */
export function unwrapGdb({ name, words, openEnd }: Wrapping): Unwrapped {
  const texts = words.slice(1).flatMap((word) => [...textIn(name, word, DEBUGGER_COMMAND), ...scriptTexts("code", name, word)]);
  const from = words.findIndex(({ value }) => /^--?args$/.test(value));
  const starts = from === -1 ? words.flatMap(({ value }, i) => (i > 0 && !/^-|\s/.test(value) ? [i] : [])) : [from + 1];
  const inner = starts
    .filter((start) => start < words.length)
    .map((start): Inner => ({ label: name, words, from: start, openEnd, guess: from === -1 }));
  return together([...texts, { inner }]);
}

const RUNS =
  "\\b(?:system|\\w*popen\\d?|exec(?:[lv]\\w*|Sync|File\\w*)?|os\\.execute|\\w*spawn\\w*|run|call|check_output|check_call|getoutput|Popen|shell_exec|passthru|proc_open|capture\\w*|Command)";
/** What may be between the name of such a function and its text: a list, the name of a parameter, a string prefix. */
const BEFORE_TEXT = "\\s*\\(\\s*(?:\\w+\\s*=\\s*)?[[(]?\\s*[rbfu]{0,2}";

/** Finds shell commands in scripts of other languages, if they are plain string literals. */
const LANGUAGES: Readonly<Record<Exclude<Language, "sed">, readonly RegExp[]>> = {
  awk: [/\bsystem\s*\(\s*"((?:[^"\\]|\\.)*)"/g, /\|&?\s*"((?:[^"\\]|\\.)*)"/g, /"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline/g],
  expect: [/\b(?:spawn|exec|system)\s+(?:-\w+\s+)*([^;\n\]}]+)/g, /\bopen\s+["{]?\|\s*([^;\n\]}"]+)/g],
  code: [
    new RegExp(`${RUNS}${BEFORE_TEXT}"((?:[^"\\\\]|\\\\.)*)"`, "g"),
    new RegExp(`${RUNS}${BEFORE_TEXT}'((?:[^'\\\\]|\\\\.)*)'`, "g"),
    new RegExp(`${RUNS}${BEFORE_TEXT}(?:"{3}|'{3}|\`|\\[\\[)([^"'\`\\]]*)`, "g"),
    new RegExp(`${RUNS}\\w*\\s*\\(\\s*(?:\\w+\\s*=\\s*)?([[(]?\\s*(?:["'][^"']*["']\\s*,?\\s*)+)`, "g"),
    /\b(?:system|exec|execute|spawn)\s*(?:["']([^"']*)["']|\[\[([^\]]*)\]\])/g,
    /\$`([^`]*)`/g,
  ],
  // Back quotes, and some letters before a text, run a command.
  quoting: [
    /`([^`]+)`/g,
    /(?:\bqx|%x)\s*[{(/[]([^})/\]]+)/g,
    /\b(?:system|exec)\s*\(?\s*qw?\s*[{(/[]([^})/\]]+)/g,
    /["']\|\s*([^"'|]+)["']/g,
    /["']([^"'|]+)\|["']/g,
    /["']-\|["']\s*,\s*((?:["'][^"']*["']\s*,?\s*)+)/g,
  ],
  // Editors, pagers and clients of databases run a command behind a sign.
  escapes: [
    /(?:^|[\n:+|\\])\s*(?:silent\s+|r(?:ead)?\s+)?!\s*([^\n]+)/g,
    /^\s*\.(?:shell|system)\s+([^\n]+)/gm,
    /(?:^|[\n;])\s*system\s+([^\n;]+)/g,
    /\bprogram\s+'([^']+)'/gi,
    /\(\s*(?:shell-command[\w-]*|call-process|start-process(?:\s+"[^"]*"\s+\S+)?)\s+"([^"]*)"/g,
    /\bsystem\s*\(\s*["']([^"']*)["']/g,
  ],
};

type Language = "awk" | "sed" | "expect" | "code" | "quoting" | "escapes";

/** The languages of each program's scripts. */
export const SCRIPT_PROGRAMS: Readonly<Record<string, readonly Language[]>> = {
  ...inLanguages("awk gawk mawk nawk original-awk", ["awk"]),
  ...inLanguages("sed gsed ssed", ["sed"]),
  ...inLanguages("expect tclsh wish", ["expect"]),
  ...inLanguages("python pypy ipython node nodejs lua luajit deno bun rscript", ["code"]),
  ...inLanguages("perl ruby irb php julia", ["code", "quoting"]),
  ...inLanguages("vim vi view ex nvim ed emacs less more psql mysql mariadb sqlite3 dc bc gnuplot", ["escapes"]),
};

function inLanguages(names: string, languages: readonly Language[]): Readonly<Record<string, readonly Language[]>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, languages]));
}

/** The same program in another version: `python3.12`. */
export const VERSIONED: RegExp = /^(python|pypy|perl|ruby|lua|php)[\d.]+$/;

const JAVASCRIPT: readonly string[] = ["node", "nodejs", "deno", "bun"];

/** In JavaScript `exec` is mostly the method of a pattern or a database: texts are looked for where something can start a program at all. */
const STARTS_PROGRAMS = /child_process|\b(?:Bun|Deno|execa|zx|shelljs)\b/;

/** `sed '1e TEXT'`, `awk 'BEGIN { system("TEXT") }'`, `expect -c 'spawn TEXT'`, `python3 -c 'os.system("TEXT")'`, `python3 -m MODULE`; the same texts on the input. */
export function unwrapProgram({ name, words, stdin, openEnd }: Wrapping): Unwrapped {
  const languages = SCRIPT_PROGRAMS[name] ?? SCRIPT_PROGRAMS[VERSIONED.exec(name)?.[1] ?? ""] ?? [];
  const input = stdin === undefined || stdin.kind === "other" || stdin.text === undefined ? [] : [literalWord(stdin.text)];
  const texts = [...words.slice(1), ...input].flatMap((word) => languages.flatMap((language) => scriptTexts(language, name, word)));
  const module = name.startsWith("python") ? words.findIndex(({ value }) => value === "-m") : -1;
  const command: readonly Inner[] =
    module > 0 && module + 1 < words.length ? [{ label: `${name} -m`, words, from: module + 1, openEnd }] : [];
  return together([...texts, { inner: command }]);
}

function scriptTexts(language: Language, name: string, word: ShellWord): readonly Unwrapped[] {
  if (language === "sed") return sedTexts(name, word.value);
  if (JAVASCRIPT.includes(name) && !STARTS_PROGRAMS.test(word.value)) return [];
  return LANGUAGES[language].flatMap((pattern) => textsOf(name, word, pattern));
}

const SED_ADDRESS = "(?:\\d+(?:~\\d+)?|\\$|/(?:\\\\.|[^\\\\/\\n])*/[IM]*)";

/** One command of sed: its address, then a substitution with its flags, the text of `e`, or another command. */
const SED_COMMAND = new RegExp(
  `[\\s;{}]*(?:${SED_ADDRESS}(?:\\s*,\\s*(?:[+~]\\d+|${SED_ADDRESS}))?[\\s!]*)?` +
    "(?:s([^\\s\\\\])(?:\\\\.|(?!\\1)[^\\\\])*\\1((?:\\\\.|(?!\\1)[^\\\\])*)\\1(\\w*)|e[ \\t]*([^\\n]*)|[aicrRwWbtT:][^\\n]*|[\\w=])",
  "gy",
);

/** What `e` and the flag `e` of a substitution run. */
function sedTexts(name: string, value: string): readonly Unwrapped[] {
  const text = value.replace(/^(?:--[a-z]+=|-[nErsuz]*e)/, "");
  return [...text.matchAll(SED_COMMAND)].flatMap(([, , instead = "", flags = "", run = ""]) => {
    const ran = flags.includes("e") ? instead : run;
    return ran === "" ? [] : [foreignText(name, literalWord(ran))];
  });
}

function textsOf(label: string, word: ShellWord, pattern: RegExp): readonly Unwrapped[] {
  return [...word.value.matchAll(pattern)].map((match) => {
    const text = match.slice(1).findLast((group) => group !== undefined) ?? "";
    const list = [...text.matchAll(/["']([^"']*)["']/g)].map(([, one = ""]) => literalWord(one));
    const isList = list.length > 0 && /^[[(]?\s*["']/.test(text);
    return foreignText(label, isList ? joined(list) : literalWord(text.replaceAll(/\\(["'\\/])/g, "$1")));
  });
}

/** A text of another language may be no script at all (`run("don't")`): if a shell could not read it, its words count, and nothing is in doubt. */
function foreignText(label: string, word: ShellWord): Unwrapped {
  const tree = parseBash(word.value);
  if (tree && !tree.errors) return scriptOf(label, word);
  return { inner: splitTolerant(word.value).map((words) => ({ label, words, from: 0 })) };
}

/** The dynamic loader, which can start any program. */
export const LOADER: RegExp = /^ld(?:-linux|-musl|64)?[\w.-]*\.so(?:\.\d+)*$/;

/** How the loader takes its options. */
export const LOADER_SPEC: WrapperSpec = {
  values: "--library-path --inhibit-rpath --audit --preload --argv0 --glibc-hwcaps-prepend --glibc-hwcaps-mask",
  flags: "--inhibit-cache --verify --list",
};
