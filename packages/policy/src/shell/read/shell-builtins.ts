/** Builtins that evaluate text, change the shell or steer what runs next: no program of that name does the same. */
const CHANGES_SHELL: ReadonlySet<string> = new Set(
  (
    ". : alias bg bind break builtin caller command compgen complete compopt continue coproc declare dirs disown enable eval exec exit export fc fg getopts hash " +
    "history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait"
  ).split(" "),
);

const RESERVED: ReadonlySet<string> = new Set(
  "! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/** Whether bash would take this word, at the start of a command, for a part of its grammar. */
export function isReserved(word: string): boolean {
  return RESERVED.has(word);
}

/** Why a builtin that changes the shell is hazardous. */
export function builtinText(name: string): string {
  return `${name} is a shell builtin that evaluates text or changes the shell`;
}

/** Whether these words are a builtin that evaluates or changes the shell; `-v` makes `printf` and `test` such builtins. */
export function changesShell(words: readonly string[]): boolean {
  const [name, first] = words;
  if (name === undefined || CHANGES_SHELL.has(name)) return true;
  if (name === "printf") return first?.startsWith("-v") ?? false;
  return (name === "test" || name === "[") && words.includes("-v");
}
