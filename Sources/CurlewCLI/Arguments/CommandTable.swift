// SPDX-License-Identifier: MIT

/// The commands. `request` has no name on the command line.
enum CommandName: String, CaseIterable, Sendable {
    case request, download, upload, events, ws, serve, batch, bench, curl, har, completions, man, help
}

/// One row of the table of commands.
struct CommandSpec: Sendable {
    let name: CommandName
    /// The usage after the name of the program.
    let usage: String
    let summary: String
    /// The groups of options that the command accepts.
    let groups: [OptionGroup]

    /// The most operands; nil if there is no limit.
    var mostOperands: Int? {
        switch name {
        case .serve, .man: 0
        case .batch, .completions, .help: 1
        case .request, .download, .upload, .events, .ws, .bench, .curl, .har: nil
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
            summary:
                "Open a WebSocket: lines of the input are sent, messages are printed. After the end of the input, it is "
                + "closed when no message arrives for half a second, or with --count after that many.",
            groups: [.stream, .output, .secrets, .insight] + sent + [.general]),
        CommandSpec(
            name: .batch, usage: "batch [FILE]",
            summary: "Send requests that are JSON lines; print results as JSON lines.",
            groups: [.batch, .output, .secrets, .status, .insight] + sent + [.general]),
        CommandSpec(
            name: .bench, usage: "bench [METHOD] URL [ITEM ...]",
            summary: "Send a request many times and show percentiles of the time.",
            groups: [.bench, .body, .output, .status] + sent + [.general]),
        CommandSpec(
            name: .curl, usage: "curl 'curl ...' | curl -- curl ...",
            summary: "Read a curl command and send its request.",
            groups: [.curl, .parts, .file, .output, .secrets, .status, .sending, .timing, .insight] + sent + [.general]),
        CommandSpec(
            name: .har, usage: "har show|report|curl|redact|diff FILE [FILE]", summary: "Read HAR files.",
            groups: [.file, .output, .secrets, .general]),
        CommandSpec(
            name: .serve, usage: "serve", summary: "Run the sample API on this machine.",
            groups: [.server, .output, .general]),
        CommandSpec(
            name: .completions, usage: "completions bash|zsh|fish", summary: "Print completions for a shell.",
            groups: [.general]),
        CommandSpec(name: .man, usage: "man", summary: "Print the manual page, curlew.1.", groups: [.general]),
        CommandSpec(
            name: .help, usage: "help [TOPIC]", summary: "Show the help, or that of a command, items or exit-codes.",
            groups: [.general]),
    ]

    static func named(_ name: CommandName) -> CommandSpec {
        all.first { $0.name == name } ?? CommandSpec(name: name, usage: "", summary: "", groups: [.general])
    }
}
