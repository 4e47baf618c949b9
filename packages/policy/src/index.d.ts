export { type OwnFiles, ownFilesGuards } from "./own-files.ts";
export { pathFacts } from "./path-facts.ts";
export { type PathFact, type PathScope, pathScope, type SessionDirectories } from "./path-scope.ts";
export { isInside, type ResolvedPath, resolvePath } from "./resolve-path.ts";
export { isSensitive } from "./sensitive.ts";
export { findWorkspace, WorkspaceNotFoundError } from "./workspace.ts";
