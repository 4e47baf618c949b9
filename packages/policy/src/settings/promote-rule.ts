import type { Files, Json } from "@assent/core";
import { addRule, type RuleListName, setKey } from "./edit-settings.ts";
import { type LockOptions, withFileLock } from "./file-lock.ts";
import { SettingsError } from "./problem.ts";
import { readSettingsFile } from "./read-file.ts";
import { readSettings } from "./read-settings.ts";
import type { RuleObject } from "./rule-entry.ts";

/** A rule for a settings file. `dryRun`: write nothing. */
export type RulePromotion = {
  readonly file: string;
  readonly list: RuleListName;
  readonly rule: string | RuleObject;
  readonly dryRun?: boolean;
};

/** What writing to a settings file needs. */
export type PromotionOptions = LockOptions & { readonly files: Pick<Files, "replace"> };

/** The file before and after; equal if the rule existed. */
export type PromotedRule = { readonly file: string; readonly line: number; readonly before: string; readonly after: string };

/** Files writable by others are refused when read. */
const NEW_FILE_MODE = 0o644;

/** Adds a rule to a settings file, under a lock. Throws `SettingsError` for a broken file. */
export async function promoteRule(promotion: RulePromotion, parts: PromotionOptions): Promise<PromotedRule> {
  if (promotion.dryRun) return addToText(promotion, readPresentText(promotion.file) ?? "");
  return withFileLock(promotion.file, parts, async () => {
    const text = readPresentText(promotion.file);
    const promoted = addToText(promotion, text ?? "");
    if (promoted.after !== text)
      await parts.files.replace(promotion.file, promoted.after, text === undefined ? { mode: NEW_FILE_MODE } : {});
    return promoted;
  });
}

/** Writes a setting to a file, under a lock, and keeps everything else. Undefined removes it. Throws `SettingsError` for a broken file. */
export async function storeSetting(file: string, path: readonly string[], value: Json | undefined, parts: PromotionOptions): Promise<void> {
  await withFileLock(file, parts, async () => {
    const text = readPresentText(file);
    if (text !== undefined && text.trim() !== "") refuseBroken(file, text);
    const after = setKey(text ?? "", path, value);
    refuseBroken(file, after);
    await parts.files.replace(file, after, text === undefined ? { mode: NEW_FILE_MODE } : {});
  });
}

function addToText({ file, list, rule }: RulePromotion, before: string): PromotedRule {
  if (before.trim() !== "") refuseBroken(file, before);
  const { text: after, line } = addRule(before, list, rule);
  refuseBroken(file, after);
  return { file, line, before, after };
}

/** The text with its byte order mark. */
function readPresentText(file: string): string | undefined {
  const reading = readSettingsFile(file);
  if ("absent" in reading) return undefined;
  if ("text" in reading) return reading.mark + reading.text;
  const { place, ...words } = reading.fault;
  throw new SettingsError([{ file, key: "", ...place, ...words, effect: "refuse" }]);
}

function refuseBroken(file: string, text: string): void {
  const { problems } = readSettings(file, text.replace(/^\uFEFF/, ""));
  if (problems.some(({ effect }) => effect === "refuse")) throw new SettingsError(problems);
}
