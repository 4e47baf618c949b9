/** What the wrapper starts. */
export type WrapperCommand = { readonly node: string; readonly program: string };

/**
 * A shell script between an agent and `assent hook`. It denies (exit code 2) when Assent crashes, is killed or cannot start, because most
 * agents run a call whose hook failed. Reports never end with 2: that would keep an agent from stopping.
 */
export function wrapperScript({ node, program }: WrapperCommand): string {
  return [
    "#!/bin/sh",
    "# Written by assent hook install. Usage: assent-hook AGENT decide|report [OPTIONS]",
    "agent=$1",
    "use=$2",
    "shift 2",
    `answer=$(${quote(node)} ${quote(program)} hook "$agent" "$@")`,
    "status=$?",
    'if [ "$use" = report ]; then exit 0; fi',
    'if [ "$status" -eq 0 ]; then',
    `  if [ -n "$answer" ]; then printf '%s\\n' "$answer"; fi`,
    "  exit 0",
    "fi",
    'if [ "$status" -ne 2 ]; then',
    '  echo "Assent ended with status $status before it could decide, so this call is denied. For the person: assent hook doctor $agent" >&2',
    "fi",
    "exit 2",
    "",
  ].join("\n");
}

export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
