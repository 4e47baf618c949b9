import type { Guard, Request, Unit } from "@assent/core";
import { shellOf } from "../facts/units.ts";
import { inDoubt } from "../rules/checker.ts";
import type { Rule } from "../rules/rule.ts";
import { rootDelete } from "../shell/effects/root-delete.ts";
import { deletesRootInLongText } from "../shell/match/long-text.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { textDoubt } from "../shell/walk/late-doubts.ts";
import { controlFileGuard } from "./control-files.ts";
import { type OwnFiles, ownFilesDoubt, ownFilesGuard } from "./own-files.ts";

/** What the guards look at beside the request. */
export type Guarded = {
  readonly own: OwnFiles;
  /** All rules of all layers: a deny that cannot be ruled out asks. */
  readonly rules: readonly Rule[];
};

/** What no rule, grant, hook or mode opens, in the order in which they are named. All of them are pure. */
export function policyGuards({ own, rules }: Guarded): readonly Guard[] {
  const doubting: Doubting = { denyInDoubt: inDoubt(rules), ownFiles: ownFilesDoubt(own) };
  return [
    guard("malformed-command", ({ line }) =>
      line.malformed ? deny("there is no command: it is empty, or holds what no shell takes") : NOTHING,
    ),
    guard("root-delete", (shell) => (deletesRoot(shell) ? deny("deleting the root directory") : NOTHING)),
    ownFilesGuard(own),
    controlFileGuard(own),
    { id: "deny-in-doubt", check: (request, unit) => doubt(doubting, request, unit) },
    guard("analysis-limit", limits),
  ];
}

type Statement = ReturnType<Guard["check"]>;

const NOTHING: Statement = Object.freeze({ verdict: "none" });

function deny(note: string): Statement {
  return { verdict: "deny", note };
}

function ask(note: string): Statement {
  return { verdict: "ask", note };
}

function guard(id: string, check: (shell: ShellUnit) => Statement): Guard {
  return {
    id,
    check: (_request, unit) => {
      const shell = shellOf(unit);
      return shell ? check(shell) : NOTHING;
    },
  };
}

function deletesRoot({ line, seen }: ShellUnit): boolean {
  if (line.tooLong) return deletesRootInLongText(line.text);
  return seen !== undefined && rootDelete(seen) === "yes";
}

type Doubting = {
  readonly denyInDoubt: ReturnType<typeof inDoubt>;
  readonly ownFiles: (request: Request, unit: Unit) => string | undefined;
};

function doubt({ denyInDoubt, ownFiles }: Doubting, request: Request, unit: Unit): Statement {
  const shell = shellOf(unit);
  const why = (shell && shellDoubt(shell)) ?? ownFiles(request, unit);
  if (why !== undefined) return ask(why);
  const rule = denyInDoubt(request, unit);
  return rule ? ask(`whether ${rule.at.text} forbids this cannot be told`) : NOTHING;
}

function shellDoubt({ line, seen, index }: ShellUnit): string | undefined {
  if (line.malformed || line.tooLong) return undefined;
  if (!line.parsed) return "unparsed: the command does not parse";
  const late = index === 0 ? textDoubt(line.text) : undefined;
  if (seen === undefined || late !== undefined) return late;
  return seen.doubts[0] ?? (rootDelete(seen) === "doubt" ? "what a recursive rm would delete cannot be told" : undefined);
}

function limits({ line }: ShellUnit): Statement {
  if (line.tooLong) return ask("too_long: the command is longer than what is read");
  return line.limited ? ask("the command is nested deeper than what is read") : NOTHING;
}
