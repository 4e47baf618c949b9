/**
 * Splits a command line into words: at blanks, with quotes and backslashes as in a shell, and nothing else of a shell. Undefined: a quote is not closed, or a
 * backslash ends the line.
 */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== "") {
    const word = /^(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/.exec(rest)?.[0];
    if (word === undefined || /^\S/.test(rest.slice(word.length))) return undefined;
    words.push(unquoted(word));
    rest = rest.slice(word.length).trimStart();
  }
  return words;
}

function unquoted(word: string): string {
  return [...word.matchAll(/'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[\s\S])*)"|\\(?<escaped>[\s\S])|(?<bare>[^'"\\]+)/g)]
    .map(({ groups = {} }) => {
      const { single, double, escaped, bare } = groups;
      return single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "";
    })
    .join("");
}
