/** The parts of a result that select the next model. */
export type OverridingResult = { readonly modelOverride?: string | undefined; readonly error?: unknown };

/** The model for the next turn, or `""`: the first override in call order from a result without error, else from its tool. */
export function resolveModelOverride(
  calls: readonly { readonly name: string }[],
  results: readonly (OverridingResult | undefined)[],
  toolOverride: (name: string) => string | undefined,
): string {
  for (const [i, { name }] of calls.entries()) {
    const result = results[i];
    const override = (result?.error === undefined && result?.modelOverride?.trim()) || toolOverride(name)?.trim();
    if (override) return override;
  }
  return "";
}
