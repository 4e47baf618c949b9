import { literalWord, type ShellWord } from "../bash-tree.ts";
import { type OptionTable, optionTable, scanOptions, type WrapperSpec } from "../option-scan.ts";
import { type Inner, joined, scriptOf, together, type Unwrapped, type Wrapping } from "./unwrapped.ts";

/** Programs that run the value of an option as a command; nothing else among their words is one. */
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
  less: { scripts: "-O -o" },
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
    return together(name === "tar" ? [...texts, ...tarTexts(words)] : texts);
  };
}

/** `--checkpoint-action=exec=TEXT`, and letters without a dash, whose values follow in their order. */
function tarTexts(words: readonly ShellWord[]): readonly Unwrapped[] {
  const actions = words.flatMap((word) => textIn("tar", word, /^(?:--checkpoint-a[a-z]*=)?exec=([\s\S]*)$/));
  const bare = /^[a-zA-Z]*[IF][a-zA-Z]*$/.test(words[1]?.value ?? "") ? words.slice(2).map((word) => scriptOf("tar", word)) : [];
  return [...actions, ...bare];
}

/** What stands in one group of a pattern in a word, as a script. */
function textIn(label: string, word: ShellWord, pattern: RegExp): readonly Unwrapped[] {
  const text = pattern
    .exec(word.value)
    ?.slice(1)
    .find((group) => group !== undefined);
  return text === undefined ? [] : [scriptOf(label, { ...word, value: text })];
}

const SSH_COMMAND = /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)\s*[=\s]\s*([\s\S]+)$/i;

/** `-o ProxyCommand=TEXT` of ssh and its like, and the program that scp and sftp use instead of ssh. */
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
];

/** Sub-commands of tmux and screen that only name, list or choose something take no command either: their words are looked at all the same. */
export function unwrapTexts({ name, words, openEnd }: Wrapping): Unwrapped {
  const found = words.slice(1).flatMap((word, i): Unwrapped[] => {
    const { value } = word;
    const text = /^--?[\w-]+=([\s\S]*)$/.exec(value)?.[1];
    if (text !== undefined) return /\s/.test(text) ? [scriptOf(name, { ...word, value: text })] : [];
    if (value.startsWith("-") || value === ";") return [];
    if (/\s/.test(value)) return [scriptOf(name, word)];
    return [{ inner: [{ label: name, words, from: i + 1, openEnd, guess: true }] }];
  });
  return together(found);
}

const DEBUGGER_COMMAND = /^\s*(?:shell|!|pipe|platform\s+shell|process\s+launch\s+--)\s*([\s\S]+)$/;

/** `gdb --args COMMAND`, and `-ex 'shell TEXT'`. */
export function unwrapGdb({ name, words, openEnd }: Wrapping): Unwrapped {
  const texts = words.slice(1).flatMap((word) => textIn(name, word, DEBUGGER_COMMAND));
  const from = words.findIndex(({ value }) => /^--?args$/.test(value));
  const start = from === -1 ? words.findIndex(({ value }, i) => i > 0 && !value.startsWith("-")) : from + 1;
  const command: readonly Inner[] = start > 0 && start < words.length ? [{ label: name, words, from: start, openEnd }] : [];
  return together([...texts, { inner: command }]);
}

/** What a script in another language hands to a shell, where it stands there as a plain text. */
const LANGUAGES: Readonly<Record<string, readonly RegExp[]>> = {
  awk: [/\bsystem\s*\(\s*"((?:[^"\\]|\\.)*)"/g, /\|&?\s*"((?:[^"\\]|\\.)*)"/g, /"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline/g],
  sed: [/(?:^|[;\n{}\d$/,!+~ ])e\s+([^\n]+)/g, /s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gpiImM\d]*e/g],
  expect: [/\b(?:spawn|exec|system)\s+(?:-\w+\s+)*([^;\n\]}]+)/g],
  code: [
    /\b(?:system|popen\d?|exec\w*|spawn\w*|run|call|check_output|check_call|getoutput|Popen|shell_exec|passthru)\s*\(\s*\[?\s*"((?:[^"\\]|\\.)*)"/g,
    /\b(?:system|popen\d?|exec\w*|spawn\w*|run|call|check_output|check_call|getoutput|Popen|shell_exec|passthru)\s*\(\s*\[?\s*'((?:[^'\\]|\\.)*)'/g,
    /\b(?:system|exec)\s+["']([^"']*)["']/g,
    /(?:`|\bqx\s*[{(/])([^`})/]+)[`})/]/g,
    /\b(?:system|popen|exec\w*|spawn\w*|run|call|check_output|check_call|Popen)\w*\s*\(\s*(\[?\s*(?:["'][^"']*["']\s*,?\s*)+)/g,
  ],
};

/** Which words are read, by the name of the program. */
export const SCRIPT_PROGRAMS: Readonly<Record<string, keyof typeof LANGUAGES>> = {
  ...Object.fromEntries(["awk", "gawk", "mawk", "nawk", "original-awk"].map((name) => [name, "awk"])),
  ...Object.fromEntries(["sed", "gsed", "ssed"].map((name) => [name, "sed"])),
  ...Object.fromEntries(["expect", "tclsh", "wish"].map((name) => [name, "expect"])),
  ...Object.fromEntries(
    ["perl", "ruby", "python", "python2", "python3", "node", "nodejs", "php", "lua", "luajit", "deno", "bun"].map((n) => [n, "code"]),
  ),
};

/** `sed '1e TEXT'`, `awk 'BEGIN { system("TEXT") }'`, `expect -c 'spawn TEXT'`, `python3 -c 'os.system("TEXT")'`, `python3 -m MODULE`. */
export function unwrapProgram({ name, words, openEnd }: Wrapping): Unwrapped {
  const patterns = LANGUAGES[SCRIPT_PROGRAMS[name] ?? ""] ?? [];
  const texts = words.slice(1).flatMap((word) => patterns.flatMap((pattern) => textsOf(name, word, pattern)));
  const module = name.startsWith("python") ? words.findIndex(({ value }) => value === "-m") : -1;
  const command: readonly Inner[] =
    module > 0 && module + 1 < words.length ? [{ label: `${name} -m`, words, from: module + 1, openEnd }] : [];
  return together([...texts, { inner: command }]);
}

function textsOf(label: string, word: ShellWord, pattern: RegExp): readonly Unwrapped[] {
  return [...word.value.matchAll(pattern)].map((match) => {
    const text = match.slice(1).findLast((group) => group !== undefined) ?? "";
    const list = [...text.matchAll(/["']([^"']*)["']/g)].map(([, one = ""]) => literalWord(one));
    return scriptOf(label, list.length > 0 && /^\[?\s*["']/.test(text) ? joined(list) : literalWord(text.replaceAll(/\\(["'\\/])/g, "$1")));
  });
}

/** The program loader, under which any program can be started. */
export const LOADER: RegExp = /^ld(?:-linux|-musl|64)?[\w.-]*\.so(?:\.\d+)*$/;

/** How the loader takes its options. */
export const LOADER_SPEC: WrapperSpec = {
  values: "--library-path --inhibit-rpath --audit --preload --argv0 --glibc-hwcaps-prepend --glibc-hwcaps-mask",
  flags: "--inhibit-cache --verify --list",
};
