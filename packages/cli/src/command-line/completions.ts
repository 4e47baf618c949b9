import type { Command, OptionSpec } from "./spec.ts";

export function completionScript(shell: "bash" | "zsh" | "fish", table: readonly Command[]): string {
  const commands = withHeads(table);
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
    default:
      return shell satisfies never;
  }
}

/** Adds words like `policy` that only have subcommands. */
function withHeads(table: readonly Command[]): readonly Command[] {
  const heads = new Map<string, Command>();
  for (const command of table) {
    const [head = ""] = command.name.split(" ");
    if (table.some(({ name }) => name === head)) continue;
    const below = namesBelow({ ...command, name: head }, table);
    heads.set(head, { ...command, name: head, summary: below.join(", "), operands: [], options: [] });
  }
  return [...table, ...heads.values()];
}

function wordsAfter(command: Command, commands: readonly Command[]): string[] {
  const below = namesBelow(command, commands);
  const choices = command.operands.flatMap((operand) => operand.choices ?? []);
  return [...below, ...choices, ...command.options.map(({ name }) => `--${name}`), "--help"];
}

function namesBelow({ name: above }: Command, commands: readonly Command[]): string[] {
  return commands.filter(({ name }) => name.startsWith(`${above} `)).map(({ name }) => name.slice(above.length + 1));
}

function topLevel(commands: readonly Command[]): Command[] {
  return commands.filter(({ name }) => !name.includes(" "));
}

function optionsByName(commands: readonly Command[]): OptionSpec[] {
  return [...new Map(commands.flatMap((command) => command.options).map((option) => [option.name, option])).values()];
}

const PATH_VALUES: readonly string[] = ["DIR", "FILE"];

function takesPath(option: OptionSpec): boolean {
  return "value" in option && PATH_VALUES.includes(option.value);
}

function bash(commands: readonly Command[]): string {
  const values = optionsByName(commands).flatMap((option) => {
    if (option.takes === "choice")
      return [`    --${option.name}) COMPREPLY=($(compgen -W '${option.choices.join(" ")}' -- "$word")); return ;;`];
    if (takesPath(option)) return [`    --${option.name}) COMPREPLY=($(compgen -f -- "$word")); return ;;`];
    return option.takes === "nothing" ? [] : [`    --${option.name}) return ;;`];
  });
  const cases = commands.map((command) => `    '${command.name}') words='${wordsAfter(command, commands).join(" ")}' ;;`);
  const names = commands.map(({ name }) => name).filter((name) => name.includes(" "));
  return `# Completion of assent for bash. Load it with: source <(assent completions bash)
_assent() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${[...topLevel(commands).map(({ name }) => name), "--help", "--version"].join(" ")}' -- "$word"))
    return
  fi
  case "$previous" in
${values.join("\n")}
  esac
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command \${COMP_WORDS[2]}" in ${names.map((name) => `'${name}'`).join("|")}) command="$command \${COMP_WORDS[2]}" ;; esac
  fi
  case "$command" in
${cases.join("\n")}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _assent assent
`;
}

function zsh(commands: readonly Command[]): string {
  const list = topLevel(commands).map(({ name, summary }) => `    ${quoteWord(`${name}:${summary.replaceAll(":", "\\:")}`)}`);
  const cases = commands.map((command) => {
    const options = command.options.map((option) => `      ${quoteWord(zshOption(option))} \\`);
    const operands = command.operands.map(
      ({ name, choices }) => `      ${quoteWord(`:${name}:${choices ? `(${choices.join(" ")})` : ""}`)} \\`,
    );
    const below = namesBelow(command, commands);
    const sub = below.length === 0 ? [] : [`      ${quoteWord(`:command:(${below.join(" ")})`)} \\`];
    return `    ${quoteWord(command.name)})\n      _arguments \\\n${[...options, ...operands, ...sub].join("\n")}\n      '--help[show help]' ;;`;
  });
  const below = commands.map(({ name }) => name).filter((name) => name.includes(" "));
  return `#compdef assent
# Completion of assent for zsh. Put it in a directory of $fpath as _assent, or: source <(assent completions zsh)
_assent() {
  local -a commands
  commands=(
${list.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  if (( CURRENT > 3 )); then
    case "$command $words[3]" in ${below.map(quoteWord).join("|")}) command="$command $words[3]"; shift words; (( CURRENT-- )) ;; esac
  fi
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_assent" ]; then _assent "$@"; else compdef _assent assent; fi
`;
}

function zshOption(option: OptionSpec): string {
  const help = option.help.replaceAll("[", "(").replaceAll("]", ")").replaceAll(":", "\\:");
  const start = `${option.takes === "list" ? "*" : ""}--${option.name}[${help}]`;
  if (option.takes === "nothing") return start;
  if (option.takes === "choice") return `${start}:${option.name}:(${option.choices.join(" ")})`;
  return `${start}:${option.value.replaceAll("|", " or ")}:${takesPath(option) ? "_files" : ""}`;
}

function fish(commands: readonly Command[]): string {
  const top = topLevel(commands).map(
    ({ name, summary }) => `complete -c assent -f -n __fish_use_subcommand -a ${quoteWord(name)} -d ${quoteWord(summary)}`,
  );
  const below = commands.flatMap((command) => {
    const [first, second] = command.name.split(" ");
    const seen = `-n ${quoteWord(`__fish_seen_subcommand_from ${first}`)}`;
    const sub = second === undefined ? [] : [`complete -c assent -f ${seen} -a ${quoteWord(second)} -d ${quoteWord(command.summary)}`];
    const choices = command.operands.flatMap((operand) => operand.choices ?? []);
    const words = choices.length === 0 ? [] : [`complete -c assent -f ${seen} -a ${quoteWord(choices.join(" "))}`];
    return [
      ...sub,
      ...words,
      ...command.options.map((option) => `complete -c assent ${seen} -l ${option.name}${fishValue(option)} -d ${quoteWord(option.help)}`),
    ];
  });
  return `# Completion of assent for fish. Load it with: assent completions fish | source
${[...top, ...below].join("\n")}
`;
}

function fishValue(option: OptionSpec): string {
  if (option.takes === "nothing") return "";
  if (option.takes === "choice") return ` -x -a ${quoteWord(option.choices.join(" "))}`;
  return takesPath(option) ? " -r -F" : " -x";
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
