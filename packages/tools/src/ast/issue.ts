/** Something the caller should know, of a file or of an operation. */
export type Issue = { readonly path?: string; readonly op?: number; readonly message: string };

const SHOWN = 20;

/** As many issues as are shown. */
export function firstIssues(issues: readonly Issue[]): readonly Issue[] {
  return issues.slice(0, SHOWN);
}

/** The issues, a line each; the rest are counted. */
export function issueLines(issues: readonly Issue[]): readonly string[] {
  const lines = firstIssues(issues).map(({ path, op, message }) =>
    [...(path === undefined ? [] : [path]), ...(op === undefined ? [] : [`ops[${op}]`]), message].join(": "),
  );
  const rest = issues.length - lines.length;
  return rest > 0 ? [...lines, `… ${rest} more issues`] : lines;
}
