import type { GrantRule, Rules } from "@assent/core";
import { isFault } from "./fault.ts";
import { type OfferOptions, offerRules } from "./offer.ts";
import { coversUnit, readGrant } from "./read-grant.ts";

/** Texts whose reading is kept. */
const MOST_KEPT = 1_000;

/**
 * Remembered answers in the notation of rules, read as narrowly as an allow. One that is bound to a script's text is written as a settings file has it:
 * `{"rule": "Shell(npm test)", "bind": {"script": "sha256:…"}}`. A grant never covers anything hazardous or sensitive.
 */
export function grantRules(options: OfferOptions): Rules {
  const kept = new Map<string, GrantRule>();
  return {
    parse: (text) => {
      const before = kept.get(text);
      if (before) return before;
      const grant = grantOf(text, options);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(text, grant);
      return grant;
    },
    offer: (request) => offerRules(request, options),
  };
}

function grantOf(text: string, options: OfferOptions): GrantRule {
  const rule = readGrant(text, options);
  if (isFault(rule)) throw new Error(`${rule.message}; ${rule.hint}`);
  return {
    text,
    covers: (request, unit) => coversUnit(rule, request, unit),
  };
}
