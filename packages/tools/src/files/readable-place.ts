import type { ToolResult, Verdict } from "@assent/core";
import type { PathFact, PathLookup } from "@assent/policy";
import { failure } from "../failure.ts";
import { judgedPaths } from "./judged-paths.ts";
import { displayPath } from "./shown-path.ts";

/** A path of one call: the input it stands in, and where it is taken from. */
type PathUse = { readonly input: object; readonly path: string; readonly cwd: string };

/** A place that may be looked at now. */
export type ReadablePlace = {
  readonly fact: PathFact;
  readonly path: string;
  /** How it is named to people and the model. */
  readonly shown: string;
  /** True if this opened file holds secrets and the judged one did not. */
  readonly isExchanged: (file: Parameters<PathFact["isProtected"]>[0]) => boolean;
};

/** What tools that only look at files have in common: when they ask, and that they look where it was judged. */
export type ReadablePlaces = {
  /** Inside the workspace, and for the session's own output, without asking; what is sensitive, and everything elsewhere, asks. */
  readonly judge: (named: PathUse) => Verdict;
  readonly open: (named: PathUse) => ReadablePlace | ToolResult;
};

/** Each tool has its own: calls are told apart by their inputs. */
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

/** The file is not the one that was judged. */
export function changedPlaceFailure(shown: string): ToolResult {
  return failure("execution_denied", `${shown} leads to another place than when it was judged.`);
}
