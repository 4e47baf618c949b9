/** Builtins that evaluate text, change the shell or control what runs next. */
const CHANGES_SHELL: ReadonlySet<string> = new Set(
  (
    ". : alias bg bind break builtin caller command compgen complete compopt continue coproc declare dirs disown enable eval exec exit export fc fg getopts hash " +
    "history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait"
  ).split(" "),
);

const RESERVED: ReadonlySet<string> = new Set(
  "! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/** Whether bash reads this word as part of its grammar. */
export function isReserved(word: string): boolean {
  return RESERVED.has(word);
}

export function builtinText(name: string): string {
  return `${name} is a shell builtin that evaluates text or changes the shell`;
}

/** Whether these words are such a builtin; `-v` makes `printf` and `test` one. */
export function changesShell(words: readonly string[]): boolean {
  const [name, first] = words;
  if (isEmptyList(words)) return false;
  if ((name === "type" && first !== undefined && !first.startsWith("-t")) || (name === "command" && first === "-v")) return false; // they only look up programs
  if (name === undefined || CHANGES_SHELL.has(name)) return true;
  if (name === "printf") return first?.startsWith("-v") ?? false;
  return (name === "test" || name === "[") && words.includes("-v");
}

/** `jobs` and `history` list the past of a shell. Each call has a new one, so they print nothing. */
function isEmptyList([name, ...args]: readonly string[]): boolean {
  return (name === "jobs" || name === "history") && args.length === 0;
}
