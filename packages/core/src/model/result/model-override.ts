/** The parts of a result that select the next model. */
export type OverridingResult = { readonly modelOverride?: string | undefined; readonly error?: unknown };

/**
 * The model for the next turn, or `""`: the first non-blank override in call order from a result without error, else
 * from its tool. Of two tools with one name the last counts.
 */
export function resolveModelOverride(
  calls: readonly { readonly name: string }[],
  tools: readonly { readonly name: string; readonly modelOverride?: string | undefined }[],
  results: readonly (OverridingResult | undefined)[] = [],
): string {
  for (const [i, { name }] of calls.entries()) {
    const tool = tools.findLast((candidate) => candidate.name === name);
    const result = results[i];
    const override = (result?.error === undefined && result?.modelOverride?.trim()) || tool?.modelOverride?.trim();
    if (tool && override) return override;
  }
  return "";
}
