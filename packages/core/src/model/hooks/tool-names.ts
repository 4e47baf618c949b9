/** Other agents' names for one of our tools. */
type ForeignNames = {
  /** Our equivalent tools; may be empty. */
  readonly same: readonly string[];
  /** Our similar tools. A deny or ask covers them too, so that they cannot be used to get around it. */
  readonly near?: readonly string[];
  readonly names: readonly string[];
};

/** The table is built on first use so that unrelated bundles do not contain it. */
function rowOf(name: string): ForeignNames | undefined {
  byName ??= new Map(
    foreignNames().flatMap((row) => [
      ...(row.same.length === 1 ? row.same.map((own) => [own, row] as const) : []),
      ...row.names.map((foreign) => [foreign.toLowerCase(), row] as const),
    ]),
  );
  return byName.get(name.toLowerCase());
}

let byName: ReadonlyMap<string, ForeignNames> | undefined;

/** Our tools for another agent's tool name, ignoring case; undefined if no known agent has such a tool. */
export function toolsByForeignName(name: string): Pick<ForeignNames, "same" | "near"> | undefined {
  return rowOf(name);
}

/** The name of a tool of ours in the shared hook contract; any other tool keeps its own. */
export function sharedToolName(tool: string): string {
  return SHARED.has(tool) ? (rowOf(tool)?.names[0] ?? tool) : tool;
}

const SHARED: ReadonlySet<string> = new Set(["shell", "read", "write", "edit", "search", "glob", "list", "fetch", "todo", "agent", "ask"]);

/** Tool names of other agents, old ones included. The first in each row is Claude Code's, which the shared hook contract uses. */
function foreignNames(): readonly ForeignNames[] {
  return [
    {
      same: ["shell"],
      names: [
        ...["Bash", "run_shell_command", "ShellTool", "Terminal", "PowerShell"],
        ...["local_shell", "shell_command", "exec_command", "unified_exec"],
      ],
    },
    {
      same: ["read"],
      names: [
        "Read",
        "read_file",
        "ReadFile",
        "ReadFileTool",
        "read_many_files",
        "ReadManyFiles",
        "ReadManyFilesTool",
        "NotebookRead",
        "view_image",
      ],
    },
    { same: ["write"], names: ["Write", "write_file", "WriteFile", "WriteFileTool"] },
    { same: ["edit"], near: ["ast_edit"], names: ["Edit", "replace", "EditTool", "MultiEdit"] },
    { same: ["edit", "write"], near: ["ast_edit"], names: ["apply_patch", "patch"] },
    { same: [], near: ["edit", "write", "ast_edit"], names: ["NotebookEdit", "notebook_edit"] },
    {
      same: ["search"],
      near: ["ast_grep"],
      names: ["Grep", "grep_search", "search_file_content", "GrepTool", "SearchFiles", "SearchText", "grep_files", "codesearch"],
    },
    { same: ["glob"], names: ["Glob", "GlobTool", "FindFiles"] },
    { same: ["list"], names: ["LS", "LSTool", "list_directory", "ListFiles", "ReadFolder", "list_dir"] },
    { same: ["fetch"], names: ["WebFetch", "web_fetch", "WebFetchTool"] },
    {
      same: ["todo"],
      names: ["TodoWrite", "TodoRead", "todo_write", "write_todos", "update_plan", "TaskCreate", "TaskGet", "TaskUpdate"],
    },
    { same: ["agent"], names: ["Task", "Agent", "spawn_agent"] },
    { same: ["ask"], names: ["AskUserQuestion", "ask_user_question", "ask_user", "question", "request_user_input"] },
    { same: ["enter_plan_mode"], names: ["EnterPlanMode", "plan_enter"] },
    { same: ["task_list"], names: ["TaskList", "ListAgents", "ListPeers"] },
    { same: ["task_output"], names: ["TaskOutput", "BashOutput", "AgentOutputTool"] },
    { same: ["task_stop"], names: ["TaskStop", "KillShell", "KillBash", "close_agent"] },
    { same: ["task_send"], names: ["SendMessage", "send_message", "send_input"] },
    { same: ["schedule_create"], names: ["CronCreate", "cron_create", "ScheduleWakeup"] },
    { same: ["schedule_list"], names: ["CronList", "cron_list"] },
    { same: ["schedule_delete"], names: ["CronDelete", "cron_delete"] },
    { same: ["ast_grep"], names: [] },
    { same: ["ast_edit"], names: [] },
    { same: ["resolve"], names: [] },
    { same: [], names: namesWithoutTool() },
  ];
}

function namesWithoutTool(): readonly string[] {
  return [
    ...[
      "WebSearch",
      "web_search",
      "WebSearchTool",
      "google_web_search",
      "Skill",
      "activate_skill",
      "LSP",
      "Monitor",
      "Workflow",
      "Artifact",
    ],
    ...["ExitPlanMode", "exit_plan_mode", "plan_exit", "EnterWorktree", "enter_worktree", "ExitWorktree", "exit_worktree"],
    ...[
      "ListMcpResources",
      "ListMcpResourcesTool",
      "ReadMcpResource",
      "ReadMcpResourceTool",
      "ReadMcpResourceDir",
      "ReadMcpResourceDirTool",
    ],
    ...["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "WaitForMcpServers"],
    ...["save_memory", "SaveMemory", "MemoryTool", "ToolSearch", "tool_search", "tool_call", "structured_output", "StructuredOutput"],
    ...[
      "SlashCommand",
      "Brief",
      "SendUserMessage",
      "SendUserFile",
      "SendFeedback",
      "PushNotification",
      "ReadNotifications",
      "RemoteTrigger",
    ],
    ...["ClaudeDesign", "EndConversation", "OfferChromeSetup", "Projects", "propose_skills", "ProposeGoal", "ReportFindings"],
    ...["ShareOnboardingGuide", "ShowOnboardingRolePicker", "SubagentHandback"],
    ...["codebase_investigator", "get_internal_docs", "cli_help", "complete_task", "write_stdin", "wait", "js_repl", "batch"],
  ];
}
