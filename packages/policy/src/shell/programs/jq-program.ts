/** Names that reach beyond the input; as fields of an object (`.env`) they are only names. */
const MORE_THAN_INPUT =
  /(?<![\w.])(?:env|import|include|input_filename|modulemeta|get_search_list)\b|\.\.(?:env|import|include|input_filename|modulemeta|get_search_list)\b|\$(?:[\s#]|ENV|__prog)/;

/** Whether a jq program only works on its input. */
export function isHarmlessJq(program: string): boolean {
  return !MORE_THAN_INPUT.test(program);
}
