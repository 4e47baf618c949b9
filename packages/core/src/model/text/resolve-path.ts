/** A path made absolute from a directory, with `.`, `..` and repeated slashes removed without looking at the disk. */
export function resolvePath(cwd: string, path: string): string {
  const steps: string[] = [];
  for (const step of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}
