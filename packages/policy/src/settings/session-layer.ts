import type { Layer } from "./layers.ts";
import type { PolicyPlaces, SessionFlags } from "./policy-places.ts";
import { effectOf, type Problem } from "./problem.ts";
import type { RuleEntry, Written } from "./read-settings.ts";
import { type RuleKey, SETTINGS, type SettingKey } from "./settings.ts";

const NOWHERE = { line: 0, column: 0 } as const;

/** The flags of this run as a layer. With a policy file that stands alone their rules are not read. */
export function sessionLayer({ session, workspace, policyFile }: PolicyPlaces): Layer {
  const problems: Problem[] = [];
  const values = new Map<SettingKey, Written>();
  for (const [key, flag] of FLAGS) {
    const given = session[key];
    if (given === undefined || (Array.isArray(given) && given.length === 0)) continue;
    const reading = SETTINGS[key].read(given);
    if ("value" in reading) values.set(key, { value: reading.value, at: NOWHERE });
    else problems.push(...reading.faults.map(({ message }) => flagProblem(flag, `${flag} ${message}.`)));
  }
  const rules = policyFile === undefined ? RULE_FLAGS.flatMap(([name, list]) => flagRules(session[name], `--${name}`, list)) : [];
  return {
    scope: "session",
    label: "session permissions",
    file: "--",
    root: workspace,
    trusted: true,
    written: { values, rules, problems },
  };
}

const FLAGS: readonly (readonly [key: keyof SessionFlags & SettingKey, flag: string])[] = [
  ["mode", "--mode"],
  ["onAsk", "--on-ask"],
  ["additionalDirectories", "--add-dir"],
];

const RULE_FLAGS: readonly (readonly [name: "deny" | "ask" | "allow", list: RuleKey])[] = [
  ["deny", "permissions.deny"],
  ["ask", "permissions.ask"],
  ["allow", "permissions.allow"],
];

function flagRules(texts: readonly string[], flag: string, list: RuleKey): readonly RuleEntry[] {
  return texts.map((rule) => ({ rule, list, flag, key: flag, at: NOWHERE, placeOf: () => NOWHERE }));
}

function flagProblem(flag: string, message: string): Problem {
  const type = "settings_type";
  return { type, file: flag, ...NOWHERE, key: flag, message, hint: "See: assent help", effect: effectOf(type, false) };
}
