import type { Request, Unit } from "@assent/core";
import { createShellUnit } from "../src/facts/units.ts";
import type { Command, PlanWord, Redirection } from "../src/shell/plan/plan.ts";
import type { ShellLine, ShellUnit } from "../src/shell/plan/shell-unit.ts";
import type { SeenCommand } from "../src/shell/walk/seen-command.ts";

const OPERATOR = /^(\d*|&)(>\||>>|>&|&>>|&>|<>|>|<)$/;

/** A simple command as the deny walk would give it: words between blanks, `@` for a blank inside one, redirections with a blank before their target. */
export function seenCommand(text: string): SeenCommand {
  const words = text.split(" ").filter((word) => word !== "");
  const argv: PlanWord[] = [];
  const redirections: Redirection[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const found = OPERATOR.exec(word);
    if (!found) argv.push(wordOf(word));
    else {
      const { text: target, dynamic } = wordOf(words[++i] ?? "");
      redirections.push({ fd: found[1] || "1", op: found[2] ?? "", target, dynamic });
    }
  }
  return { argv, path: [], assignments: [], redirections, hazards: [], doubts: [], openEnd: false };
}

function wordOf(text: string): PlanWord {
  return { text: text.replaceAll("@", " "), dynamic: /[$`*?[]|^~|\{.*,/.test(text) };
}

/** How sure a line is of where its commands run: plain ones are, those inside another's script only believe it. */
export type Sureness = "plain" | "inside" | "unknown";

/** A shell line of simple commands joined by `;`, each a unit. */
export function shellUnits(text: string, cwd: string, sure: Sureness = "plain"): readonly ShellUnit[] {
  const seen = text.split("; ").map(seenCommand);
  const commands = seen.map(
    ({ argv, assignments, redirections }): Command => ({
      argv,
      path: [],
      cwd: sure === "unknown" ? null : cwd,
      assignments,
      redirections,
      class: "unknown",
      operands: [],
      hazards: [],
    }),
  );
  const plan = { digest: "", cwd, shape: "text", modelled: false, commands, hazards: [] } as const;
  const line: ShellLine = { text, plan, seen, malformed: false, tooLong: false, limited: false, parsed: true, readOnly: false };
  return seen.map(
    (one, index): ShellUnit => ({
      line,
      index,
      command: commands[index] as Command,
      seen: sure === "plain" ? { ...one, top: index } : one,
      words: [],
    }),
  );
}

/** The request of a shell line, with one unit for safeguards to look at. */
export function shellRequest(unit: ShellUnit): { readonly request: Request; readonly unit: Unit } {
  const one = createShellUnit("", unit);
  const input = { command: unit.line.text };
  return {
    unit: one,
    request: { tool: "shell", toolDigest: "", kind: "execute", input, cwd: unit.line.plan.cwd, binds: {}, units: [one] },
  };
}
