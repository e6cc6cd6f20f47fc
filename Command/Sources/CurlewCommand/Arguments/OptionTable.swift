// SPDX-License-Identifier: MIT

/// The table of all options, in the order of the help.
enum OptionTable {
    static let all: [CommandOption] = [
        CommandOption(
            .json, "j", .body, "Send the items as JSON, which is the default, and ask for JSON with the field Accept."),
        CommandOption(.form, "f", .body, "Send the items as a form; with a file, as multipart."),
        CommandOption(.multipart, .body, "Send the items as multipart/form-data."),
        CommandOption(.raw, nil, "TEXT", .body, "Send this text as the body, unchanged."),

        CommandOption(.headers, "h", .parts, "Print only the head of the response."),
        CommandOption(.body, "b", .parts, "Print only the body of the response."),
        CommandOption(.verbose, "v", .parts, "Print the request, the response and the summary."),
        CommandOption(
            .print, "p", "PARTS", .parts,
            "Choose the parts: H and B for head and body of the request, h and b for those of the response, m for the "
                + "summary. Default hb on a terminal, b elsewhere."),
        CommandOption(
            .output, "o", "FILE", .file, "Write to this file: the body of the response, or a HAR file. - is the output."
        ),
        CommandOption(
            .color, nil, "WHEN", choices: ["auto", "always", "never"], .output,
            "Colour and indent: auto (on a terminal, without NO_COLOR), always, never."),
        CommandOption(.quiet, "q", .output, "Print no progress and no advice."),
        CommandOption(.showSecrets, .secrets, "Show secrets, which are otherwise written as REDACTED."),
        CommandOption(.ignoreStatus, .status, "Exit with 0 whatever the status of the response is."),

        CommandOption(.offline, .sending, "Print the request that would be sent."),
        CommandOption(.curl, .sending, "Print a curl command that sends the request."),

        CommandOption(.timing, .timing, "Show how long each phase took."),
        CommandOption(.explain, .insight, "Explain what the client does and why, in sentences."),
        CommandOption(.har, nil, "FILE", .insight, "Write the exchanges to a HAR 1.2 file."),
        CommandOption(.report, nil, "FILE", .insight, "Write the exchanges to one HTML page."),

        CommandOption(.follow, "F", .connection, "Follow redirects."),
        CommandOption(.maxTime, nil, "SECONDS", .connection, "Limit the time of the whole call. Default none."),
        CommandOption(
            .retry, nil, "N", .connection,
            "Send a failed request again, at most N times, if that is safe. Default 0."),
        CommandOption(
            .proxy, nil, "URL", .connection,
            "Connect through this proxy. Default: http_proxy, https_proxy and no_proxy of the environment."),
        CommandOption(.cacert, nil, "FILE", .connection, "Trust the authorities in this PEM file, and no others."),

        CommandOption(
            .auth, "a", "USER:PASSWORD", .credentials,
            "The credential: user and password, or a token. @FILE reads it from a file, which keeps it out of the "
                + "list of processes; \\@ is an @ at the beginning."),
        CommandOption(
            .authType, "A", "TYPE", choices: ["basic", "bearer", "digest"], .credentials,
            "The kind of --auth. Default basic."),
        CommandOption(
            .authOrigin, nil, "URL", .credentials,
            "The origin that --auth is for. Can be repeated. Default: the origin of the request."),
        CommandOption(
            .session, nil, "NAME", .credentials,
            "Keep cookies under this name, or beside this path, in a file of mode 0600."),

        CommandOption(.restart, .download, "Discard a partial file and start again."),
        CommandOption(.replace, .download, "Replace an existing file."),
        CommandOption(
            .checksum, nil, "sha256:HEX", .download, "Check the digest of the file: sha256:HEX or sha512:HEX."),

        CommandOption(.count, nil, "N", .stream, "End after N messages."),
        CommandOption(.noReconnect, .reconnection, "End when the connection ends."),

        CommandOption(.port, nil, "N", .server, "Listen on this port of 127.0.0.1. Default: a free port."),

        CommandOption(.help, .general, "Show the help."),
        CommandOption(.version, .general, "Show the version."),
    ]

    static func option(long name: Substring) -> CommandOption? { all.first { $0.name.rawValue == name } }
}

extension CommandOption {
    /// A switch with a short name.
    init(_ name: OptionName, _ short: Character, _ group: OptionGroup, _ help: String) {
        self.init(name, short, nil, group, help)
    }

    /// A switch without a short name.
    init(_ name: OptionName, _ group: OptionGroup, _ help: String) {
        self.init(name, nil, nil, group, help)
    }
}
