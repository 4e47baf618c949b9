import type { NapiConfig, SgNode } from "@ast-grep/napi";
import type { Language } from "./languages.ts";

const FAULTS: NapiConfig = { rule: { any: [{ kind: "ERROR" }, { regex: "^$" }] } };

/** Whether a text could not be parsed whole. */
export function hasSyntaxError(root: SgNode, language: Language): boolean {
  return syntaxErrors(root, language).length > 0;
}

/** Where a parser did not understand a text, and where it went on as if something stood there: such nodes are empty. */
export function syntaxErrors(root: SgNode, { emptyKinds }: Language): readonly SgNode[] {
  return root.findAll(FAULTS).filter((node) => {
    const kind = String(node.kind());
    return kind === "ERROR" || !(emptyKinds.includes(kind) || node.parent() === null);
  });
}
