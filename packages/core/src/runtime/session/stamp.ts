/** ISO 8601, formatted once per millisecond. */
export function makeStamp(): (now: number) => string {
  let last = Number.NaN;
  let text = "";
  return (now) => {
    if (now !== last) {
      text = new Date(now).toISOString();
      last = now;
    }
    return text;
  };
}
