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

/** Estimated bytes of a tree per character of its text; deliberately high. */
const TREE_FACTOR = 16;
const MOST = 128 * 1024 * 1024;

/** Tells the garbage collector about memory that it cannot see. Otherwise thousands of trees pile up outside the heap. */
export function reportTreeWeight(text: string): void {
  Buffer.allocUnsafeSlow(Math.min(text.length * TREE_FACTOR, MOST));
}
