/** A call's result as far as the next model depends on it. */
export type OverridingResult = { readonly modelOverride?: string | undefined; readonly error?: unknown };

/**
 * The model for the next turn only, or `""`: the first non-blank wish in call order, of a result without error, else of its tool.
 * `results` stand in call order; of two tools with one name the last counts.
 */
export function resolveModelOverride(
  calls: readonly { readonly name: string }[],
  tools: readonly { readonly name: string; readonly modelOverride?: string | undefined }[],
  results: readonly (OverridingResult | undefined)[] = [],
): string {
  for (const [i, { name }] of calls.entries()) {
    const tool = tools.findLast((candidate) => candidate.name === name);
    const result = results[i];
    const wish = (result?.error === undefined && result?.modelOverride?.trim()) || tool?.modelOverride?.trim();
    if (tool && wish) return wish;
  }
  return "";
}
