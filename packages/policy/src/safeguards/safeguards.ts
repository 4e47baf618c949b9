import type { Request, Safeguard, Unit } from "@assent/core";
import { getShellUnit } from "../facts/units.ts";
import { createDoubtFinder } from "../rules/checker.ts";
import type { Rule } from "../rules/rule.ts";
import { matchRootDelete } from "../shell/effects/root-delete.ts";
import { deletesRootInLongText } from "../shell/match/long-text.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { findTextDoubt } from "../shell/walk/late-doubts.ts";
import { controlFileSafeguard } from "./control-files.ts";
import { createOwnFilesDoubt, type OwnFiles, ownFilesSafeguard, resolveOwnPlaces } from "./own-files.ts";

export type SafeguardContext = {
  readonly own: OwnFiles;
  /** Rules of all layers: a deny in doubt asks. */
  readonly rules: readonly Rule[];
};

/** Creates the safeguards, which no rule, grant, hook or mode lifts. All are pure. */
export function createSafeguards({ own, rules }: SafeguardContext): readonly Safeguard[] {
  const places = resolveOwnPlaces(own);
  const doubting: DoubtFinders = { denyInDoubt: createDoubtFinder(rules), ownFiles: createOwnFilesDoubt(places) };
  return [
    shellSafeguard("malformed-command", ({ line }) =>
      line.malformed ? deny("the command is empty or contains characters that no shell accepts") : NOTHING,
    ),
    shellSafeguard("root-delete", (shell) => (deletesRoot(shell) ? deny("it would delete the root directory") : NOTHING)),
    ownFilesSafeguard(places),
    controlFileSafeguard(own),
    { id: "deny-in-doubt", check: (request, unit) => checkDoubt(doubting, request, unit) },
    shellSafeguard("analysis-limit", checkLimits),
    { id: "sandbox", check: checkContainment },
  ];
}

/** Leaving the sandbox needs a person. Without a sandbox that settings require, nothing runs. */
function checkContainment({ containment, input }: Request): SafeguardAnswer {
  if (!containment || containment.confined) return NOTHING;
  const { reason, required } = containment;
  if (required) return deny(`the settings require that commands run confined, but this one cannot: ${reason}`);
  return input["unconfined"] === true ? ask("it would run outside the sandbox") : NOTHING;
}

type SafeguardAnswer = ReturnType<Safeguard["check"]>;

const NOTHING: SafeguardAnswer = Object.freeze({ verdict: "none" });

function deny(note: string): SafeguardAnswer {
  return { verdict: "deny", note };
}

function ask(note: string): SafeguardAnswer {
  return { verdict: "ask", note };
}

function shellSafeguard(id: string, check: (shell: ShellUnit) => SafeguardAnswer): Safeguard {
  return {
    id,
    check: (_request, unit) => {
      const shell = getShellUnit(unit);
      return shell ? check(shell) : NOTHING;
    },
  };
}

function deletesRoot({ line, seen }: ShellUnit): boolean {
  if (line.tooLong) return deletesRootInLongText(line.text);
  return seen !== undefined && matchRootDelete(seen) === "yes";
}

type DoubtFinders = {
  readonly denyInDoubt: ReturnType<typeof createDoubtFinder>;
  readonly ownFiles: (request: Request, unit: Unit) => string | undefined;
};

function checkDoubt({ denyInDoubt, ownFiles }: DoubtFinders, request: Request, unit: Unit): SafeguardAnswer {
  const shell = getShellUnit(unit);
  const why = (shell && findShellDoubt(shell)) ?? ownFiles(request, unit);
  if (why !== undefined) return ask(why);
  const rule = denyInDoubt(request, unit);
  return rule ? ask(`Assent can't tell whether the rule ${rule.at.text} forbids this`) : NOTHING;
}

function findShellDoubt({ line, seen, index }: ShellUnit): string | undefined {
  if (line.malformed || line.tooLong) return undefined;
  if (!line.parsed) return "the command cannot be parsed";
  const late = index === 0 ? findTextDoubt(line.text) : undefined;
  if (seen === undefined || late !== undefined) return late;
  return seen.doubts[0] ?? (matchRootDelete(seen) === "doubt" ? "Assent can't tell what this recursive rm would delete" : undefined);
}

function checkLimits({ line }: ShellUnit): SafeguardAnswer {
  if (line.tooLong) return ask("the command is too long to analyze");
  return line.limited ? ask("the command is nested too deeply to analyze") : NOTHING;
}
