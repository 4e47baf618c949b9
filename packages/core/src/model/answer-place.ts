/** True if answers from this place count. A word covers all its names: `dialog` covers `dialog:claude`. */
export function isAcceptedPlace(answersFrom: readonly string[] | undefined, from: string | undefined): boolean {
  if (answersFrom === undefined) return true;
  return from !== undefined && (answersFrom.includes(from) || answersFrom.includes(from.replace(/:.*/s, "")));
}
