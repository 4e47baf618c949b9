/** A note for the caller about a file or an operation. */
export type Issue = { readonly path?: string; readonly op?: number; readonly message: string };

const SHOWN = 20;

export function firstIssues(issues: readonly Issue[]): readonly Issue[] {
  return issues.slice(0, SHOWN);
}

/** One line per issue; issues past the limit are counted. */
export function issueLines(issues: readonly Issue[]): readonly string[] {
  const lines = firstIssues(issues).map(({ path, op, message }) =>
    [...(path === undefined ? [] : [path]), ...(op === undefined ? [] : [`ops[${op}]`]), message].join(": "),
  );
  const rest = issues.length - lines.length;
  return rest > 0 ? [...lines, `… ${rest} more issues`] : lines;
}
