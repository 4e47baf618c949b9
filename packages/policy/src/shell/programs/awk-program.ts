/** Words and signs by which a program of awk reads other files, writes, runs something, looks at the environment or loads code. */
const MORE_THAN_READING = /system|getline|[|>@]|ENVIRON|close|-f|ARG[CV]|SYMTAB|FUNCTAB|PROCINFO/;

/** Whether an awk program only works on its input: it holds nothing that could do more. */
export function isHarmlessAwk(program: string): boolean {
  return !MORE_THAN_READING.test(program);
}
