// SPDX-License-Identifier: MIT

/// The commands. `request` has no name on the command line.
enum CommandName: String, CaseIterable, Sendable {
    case request, download, upload, events, ws, serve, curl, har, completions, help
}

/// One row of the table of commands.
struct CommandSpec: Sendable {
    let name: CommandName
    /// The usage after the name of the program.
    let usage: String
    let summary: String
    /// The groups of options that the command accepts.
    let groups: [OptionGroup]

    /// The maximum number of operands; nil if there is no limit.
    var maximumOperands: Int? {
        switch name {
        case .serve: 0
        case .completions, .help: 1
        case .request, .download, .upload, .events, .ws, .curl, .har: nil
        }
    }

    /// The options that the command accepts.
    var options: [CommandOption] { OptionTable.all.filter { groups.contains($0.group) } }

    private static let sent: [OptionGroup] = [.connection, .credentials]

    static let all: [CommandSpec] = [
        CommandSpec(
            name: .request, usage: "[METHOD] URL [ITEM ...]", summary: "Send a request and print the response.",
            groups: [.body, .parts, .file, .output, .secrets, .status, .sending, .timing, .insight] + sent + [.general]),
        CommandSpec(
            name: .download, usage: "download URL [ITEM ...]",
            summary: "Write a response to a file; continue a partial file.",
            groups: [.download, .file, .output, .secrets, .timing, .insight] + sent + [.general]),
        CommandSpec(
            name: .upload, usage: "upload FILE URL [ITEM ...]",
            summary: "Send a file, resumable (tus) if the server supports it.",
            groups: [.output, .secrets, .timing, .insight] + sent + [.general]),
        CommandSpec(
            name: .events, usage: "events URL [ITEM ...]", summary: "Print server-sent events.",
            groups: [.stream, .reconnection, .output, .secrets, .insight] + sent + [.general]),
        CommandSpec(
            name: .ws, usage: "ws URL [ITEM ...]",
            summary: "Open a WebSocket: send the lines of the input and print the messages.",
            groups: [.stream, .output, .secrets, .insight] + sent + [.general]),
        CommandSpec(
            name: .curl, usage: "curl -- curl ...", summary: "Send the request of a curl command.",
            groups: [.parts, .file, .output, .secrets, .status, .sending, .timing, .insight] + sent + [.general]),
        CommandSpec(
            name: .har, usage: "har report|curl|redact FILE",
            summary: "Turn a HAR file into a page, curl commands, or one without secrets.",
            groups: [.file, .output, .secrets, .general]),
        CommandSpec(
            name: .serve, usage: "serve", summary: "Run the sample API on this machine.",
            groups: [.server, .output, .general]),
        CommandSpec(
            name: .completions, usage: "completions bash|zsh|fish", summary: "Print completions for a shell.",
            groups: [.general]),
        CommandSpec(
            name: .help, usage: "help [TOPIC]", summary: "Show the help, or that of a command, items or exit-codes.",
            groups: [.general]),
    ]

    static func named(_ name: CommandName) -> CommandSpec {
        all.first { $0.name == name } ?? CommandSpec(name: name, usage: "", summary: "", groups: [.general])
    }
}
