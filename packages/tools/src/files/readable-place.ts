import type { ToolResult, Verdict } from "@assent/core";
import type { PathFact, PathLookup } from "@assent/policy";
import { failure } from "../failure.ts";
import { judgedPaths } from "./judged-paths.ts";
import { displayPath } from "./shown-path.ts";

type PathUse = { readonly input: object; readonly path: string; readonly cwd: string };

export type ReadablePlace = {
  readonly fact: PathFact;
  readonly path: string;
  readonly shown: string;
  /** True if this open file is sensitive although the judged one was not. */
  readonly isExchanged: (file: Parameters<PathFact["isProtected"]>[0]) => boolean;
};

/** What tools that only look have in common: when they ask, and that they look only where it was judged. */
export type ReadablePlaces = {
  /** Allows the workspace and the session's own output; asks for sensitive files and everything else. */
  readonly judge: (named: PathUse) => Verdict;
  readonly open: (named: PathUse) => ReadablePlace | ToolResult;
};

/** Make one per tool: calls are told apart by their inputs. */
export function readablePlaces({ workspace, scope }: { readonly workspace: string; readonly scope: PathLookup }): ReadablePlaces {
  const judged = judgedPaths();
  return {
    judge: ({ input, path, cwd }) => {
      const fact = scope(path, cwd);
      judged.note(input, fact);
      return fact.ownOutput || (fact.inside && !fact.sensitive) ? "allow" : "ask";
    },
    open: ({ input, path, cwd }) => {
      const fact = scope(path, cwd);
      const shown = displayPath(workspace, fact.absolute);
      if (judged.changed(input, fact.real)) return changedPlaceFailure(shown);
      const isExchanged: ReadablePlace["isExchanged"] = (file) => judged.harmless(input) && fact.isProtected(file);
      return { fact, path: fact.real ?? fact.absolute, shown, isExchanged };
    },
  };
}

export function changedPlaceFailure(shown: string): ToolResult {
  return failure("execution_denied", `${shown} no longer leads where it did when the call was judged.`);
}
