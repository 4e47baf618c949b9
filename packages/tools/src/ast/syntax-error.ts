import type { NapiConfig, SgNode } from "@ast-grep/napi";
import type { Language } from "./languages.ts";

const FAULTS: NapiConfig = { rule: { any: [{ kind: "ERROR" }, { regex: "^$" }] } };

export function hasSyntaxError(root: SgNode, language: Language): boolean {
  return syntaxErrors(root, language).length > 0;
}

/** Error nodes, and empty nodes that the parser inserted for missing code. */
export function syntaxErrors(root: SgNode, { emptyKinds }: Language): readonly SgNode[] {
  return root.findAll(FAULTS).filter((node) => {
    const kind = String(node.kind());
    return kind === "ERROR" || !(emptyKinds.includes(kind) || node.parent() === null);
  });
}
