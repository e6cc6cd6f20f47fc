// SPDX-License-Identifier: MIT

/// The options of the command. The raw value is the long name.
enum OptionName: String, CaseIterable, Sendable {
    case json, form, multipart, raw
    case offline, curl
    case headers, body, verbose, print, output, color, quiet
    case showSecrets = "show-secrets"
    case ignoreStatus = "ignore-status"
    case timing, explain, har, report
    case follow
    case maxTime = "max-time"
    case retry, proxy, cacert
    case auth
    case authType = "auth-type"
    case authOrigin = "auth-origin"
    case session
    case restart, replace, checksum
    case count
    case noReconnect = "no-reconnect"
    case port
    case help, version
}

/// A group of options that commands share. Several groups can have one title, under which the help shows them.
enum OptionGroup: String, Sendable {
    case body, parts, file, output, secrets, status, sending, timing, insight, connection, credentials
    case download, stream, reconnection, server, general

    var title: String {
        switch self {
        case .parts, .file, .output, .secrets, .status: "Output"
        case .sending: "Instead of sending"
        case .timing, .insight: "Insight"
        default: rawValue.capitalized
        }
    }

    /// Returns the titles of groups, each once, with their options in the order of the table.
    static func sections(_ groups: [OptionGroup]) -> [(title: String, options: [CommandOption])] {
        var titles: [String] = []
        for group in groups where !titles.contains(group.title) { titles.append(group.title) }
        return titles.map { title in
            (title, OptionTable.all.filter { groups.contains($0.group) && $0.group.title == title })
        }
    }
}

/// One row of the table of options. The help and the completions are generated from the table.
struct CommandOption: Sendable {
    let name: OptionName
    let short: Character?
    /// The name of the argument; nil for a switch.
    let argument: String?
    /// The values that the argument can have; empty for any value.
    let choices: [String]
    let group: OptionGroup
    let help: String

    var long: String { "--" + name.rawValue }

    init(
        _ name: OptionName, _ short: Character? = nil, _ argument: String? = nil, choices: [String] = [],
        _ group: OptionGroup, _ help: String
    ) {
        self.name = name
        self.short = short
        self.argument = argument
        self.choices = choices
        self.group = group
        self.help = help
    }
}
