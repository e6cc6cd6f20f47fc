// SPDX-License-Identifier: MIT

/// The options of the command. The raw value is the long name.
enum OptionName: String, CaseIterable, Sendable {
    case json, form, multipart, raw
    case offline, curl, items
    case headers, body, meta, verbose, print, output, color, quiet
    case showSecrets = "show-secrets"
    case ignoreStatus = "ignore-status"
    case timing, explain, har, report
    case follow
    case maxTime = "max-time"
    case connectTimeout = "connect-timeout"
    case retry, proxy, cacert, cert, key
    case http1 = "http1.1"
    case http2
    case unixSocket = "unix-socket"
    case resolve
    case auth
    case authType = "auth-type"
    case session
    case restart, replace, checksum
    case count
    case noReconnect = "no-reconnect"
    case port, concurrency, connections, requests, duration
    case help, version
}

/// A group of options, which the help shows together and which commands share.
enum OptionGroup: String, CaseIterable, Sendable {
    case body = "Body"
    case output = "Output"
    case sending = "Instead of sending"
    case insight = "Insight"
    case connection = "Connection"
    case credentials = "Credentials"
    case download = "Download"
    case stream = "Streams"
    case reconnection = "Events"
    case server = "Server"
    case batch = "Batch"
    case bench = "Bench"
    case curl = "curl"
    case general = "General"
}

/// One row of the table of options. The help, the completions and the manual page are generated from the table.
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
