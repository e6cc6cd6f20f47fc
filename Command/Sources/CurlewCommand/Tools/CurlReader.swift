// SPDX-License-Identifier: MIT

import Curlew

/// `curlew curl -- curl ...`: sends the request of a curl command, whose words the shell has split.
struct CurlCommands {
    let arguments: ParsedArguments
    let io: CommandIO

    func run() async throws -> ExitCode {
        let reader = try await CurlReader(arguments.operands, io)
        let console = Console(arguments, io)
        for warning in reader.warnings { console.note("curlew: \(warning)") }
        // The options of `curlew` come last, so that they override those of the command.
        let merged = try ParsedArguments(["curl"] + reader.options, overriddenBy: arguments)
        return try await RequestCommand(arguments: merged, io: io).send(reader.plan)
    }
}

/// A curl command as a request and options of `curlew`.
struct CurlReader {
    private(set) var plan = RequestPlan(method: .get, url: "", headers: HTTPHeaders(), content: .none)
    /// The options of `curlew` that correspond to options of curl.
    private(set) var options: [String] = []
    /// What curl would do and `curlew` does not.
    private(set) var warnings: [String] = []

    /// The file that is the body; `-` is the standard input.
    private var bodyFile: String?
    private var forms: [MultipartForm.Part] = []
    private var method: String?
    private var urls: [String] = []
    /// The arguments of `--data` and its relatives.
    private var data: [Data] = []
    private var cookies: [String] = []
    private var hosts: [String] = []
    private var hasCredential = false
    private var isDigest = false
    private var isLiteral = false
    private var isGet = false
    private var isHead = false
    private var isJSON = false
    private let io: CommandIO

    /// The long names of short options.
    private static let longNames: [Character: String] = [
        "X": "request", "H": "header", "d": "data", "F": "form", "u": "user", "b": "cookie", "A": "user-agent",
        "e": "referer", "o": "output", "x": "proxy", "m": "max-time", "T": "upload-file", "I": "head", "G": "get",
        "L": "location", "k": "insecure", "s": "silent", "S": "show-error", "i": "include", "v": "verbose",
        "f": "fail", "g": "globoff", "#": "progress-bar", "N": "no-buffer",
    ]

    private static let withArgument: Set<String> = [
        "request", "header", "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json", "form",
        "form-string", "user", "cookie", "user-agent", "referer", "output", "proxy", "max-time", "cacert", "url",
        "upload-file", "retry", "oauth2-bearer",
    ]

    private static let switches: Set<String> = [
        "head", "get", "location", "insecure", "include", "verbose", "globoff", "digest",
        // These change nothing here.
        "compressed", "silent", "show-error", "fail", "fail-with-body", "basic", "progress-bar", "no-buffer",
        "path-as-is",
    ]

    init(_ words: [String], _ io: CommandIO) async throws {
        self.io = io
        var rest = words[...]
        guard let program = rest.popFirst(), program == "curl" || program.ends(with: "/curl") else {
            throw UsageError("The command does not begin with curl.", "Write curlew curl -- curl https://...")
        }
        while let word = rest.popFirst() {
            if word.begins(with: "--") {
                let name = word.dropFirst(2).upTo("=")
                let value = word.first("=").map { String(word[$0...].dropFirst()) }
                try await read(String(name), value, &rest)
            } else if word.begins(with: "-"), word != "-" {
                var letters = word.dropFirst()
                while let letter = letters.popFirst() {
                    let name = Self.longNames[letter] ?? "-\(letter)"
                    let value = Self.withArgument.contains(name) && !letters.isEmpty ? String(letters) : nil
                    if value != nil { letters = "" }
                    try await read(name, value, &rest)
                }
            } else {
                urls.append(word)
            }
        }
        try await finish()
    }

    private mutating func read(_ name: String, _ value: String?, _ rest: inout ArraySlice<String>) async throws {
        if Self.withArgument.contains(name) {
            guard let value = value ?? rest.popFirst() else { throw UsageError("--\(name) of curl has no argument.") }
            try await set(name, value)
        } else if Self.switches.contains(name), value == nil {
            setSwitch(name)
        } else {
            throw UsageError("The option --\(name) of curl is not supported.", "Remove it from the command.")
        }
    }

    private mutating func setSwitch(_ option: String) {
        switch option {
        case "head": isHead = true
        case "get": isGet = true
        case "location": options.append("--follow")
        case "insecure":
            warnings.append("-k is ignored: certificates are verified. Use --cacert for a private authority.")
        case "include": options.append("--print=hb")
        case "verbose": options.append("--verbose")
        case "digest": isDigest = true
        case "globoff": isLiteral = true
        default: break
        }
    }

    private mutating func set(_ option: String, _ value: String) async throws {
        switch option {
        case "request": method = value
        case "url": urls.append(value)
        case "header": try setHeader(value)
        case "data", "data-ascii": data.append(try await bytes(value, keepsLines: false))
        case "data-binary": data.append(try await bytes(value, keepsLines: true))
        case "data-raw": data.append(Data(value.utf8))
        case "data-urlencode": data.append(try await encoded(value))
        case "json":
            isJSON = true
            data.append(try await bytes(value, keepsLines: true))
        case "form", "form-string": forms.append(try part(value, isLiteral: option == "form-string"))
        case "user":
            hasCredential = true
            options += ["--auth", Credential.literal(value.holds(":") ? value : value + ":")]
        case "oauth2-bearer":
            hasCredential = true
            options += ["--auth", Credential.literal(value), "--auth-type", "bearer"]
        case "cookie":
            guard value.holds("=") else { throw UsageError("--cookie of curl with a file is not supported.") }
            cookies.append(value)
        case "user-agent":
            if value.isEmpty { plan.removed.append(.userAgent) } else { plan.headers.set(.userAgent, value) }
        case "referer": if !value.isEmpty { plan.headers.set(.referer, value) }
        case "upload-file": bodyFile = value
        // Zero is no limit.
        case "max-time" where value == "0": break
        default: options += ["--" + option, value]
        }
    }

    private mutating func setHeader(_ value: String) throws {
        guard let mark = value.utf8.firstIndex(where: { ":;".utf8.contains($0) }) else {
            throw UsageError("--header of curl needs Name: value.")
        }
        let (name, text) = (String(value[..<mark]), String(value[mark...].dropFirst().trimmed()))
        let isRemoved = text.isEmpty && value.utf8[mark] == UInt8(ascii: ":")
        switch name.lowercased() {
        case _ where isRemoved: plan.removed.append(try RequestPlan.name(name, isRemoved: true))
        // The transport writes these. Browsers copy some of them into their curl commands.
        case "host": hosts.append(text)
        case "te", "content-length": break
        case "connection" where text.lowercased() == "keep-alive": break
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
            warnings.append("The field \(name) is ignored: the connection writes it.")
        default: plan.headers.append(try RequestPlan.name(name), text)
        }
    }

    /// Returns the part of `--form`: a text, or `@file;type=…`.
    private func part(_ argument: String, isLiteral: Bool) throws -> MultipartForm.Part {
        guard let mark = argument.first("="), mark > argument.startIndex else {
            throw UsageError("--form of curl needs name=value.")
        }
        let (name, value) = (String(argument[..<mark]), String(argument[mark...].dropFirst()))
        if isLiteral { return .field(name, value) }
        guard !value.begins(with: "<"), !value.begins(with: "\""), value.begins(with: "@") || !value.holds(";") else {
            throw UsageError(
                "This form of --form of curl is not supported: \(argument)", "Use --form-string for a text.")
        }
        return value.begins(with: "@")
            ? try RequestPlan.file(name, String(value.dropFirst()), io) : .field(name, value)
    }

    /// Returns the bytes of an argument, of which `@file` and `@-` name a file.
    private func bytes(_ value: String, keepsLines: Bool) async throws -> Data {
        guard value.utf8.first == UInt8(ascii: "@") else { return Data(value.utf8) }
        let path = String(value.dropFirst())
        var content = Data()
        if path == "-" {
            while content.count <= RequestPlan.valueLimit, let piece = try await io.read() { content += piece }
            guard content.count <= RequestPlan.valueLimit else { throw UsageError("The input has more than 64 MiB.") }
        } else {
            content = try io.contents(of: path, limit: RequestPlan.valueLimit)
        }
        return keepsLines ? content : content.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
    }

    private func encoded(_ value: String) async throws -> Data {
        guard let mark = value.utf8.firstIndex(where: { "=@".utf8.contains($0) }) else {
            return Data(CurlEscapes.escaped(value.utf8).utf8)
        }
        let name = value[..<mark]
        let rest = String(value[mark...].dropFirst())
        let isFile = value.utf8[mark] == UInt8(ascii: "@")
        let content = isFile ? try await bytes("@" + rest, keepsLines: true) : Data(rest.utf8)
        return Data(((name.isEmpty ? "" : name + "=") + CurlEscapes.escaped(content)).utf8)
    }

    private mutating func finish() async throws {
        guard let first = urls.first else { throw UsageError("The curl command has no URL.") }
        guard urls.count == 1 else { throw UsageError("The curl command has several URLs.", "Run it once for each.") }
        // curl uses http for URLs without a scheme.
        plan.url = URLShorthand.scheme(of: first) == nil ? "http://" + first : try URLShorthand.complete(first)
        if let parts = URLShorthand.userinfo(of: plan.url) {
            plan.url = parts.url
            let text = URLShorthand.decoded(parts.userinfo) ?? parts.userinfo
            if !hasCredential { options += ["--auth", Credential.literal(text.holds(":") ? text : text + ":")] }
            hasCredential = true
        }
        let path = plan.url.utf8.dropFirst((URLShorthand.scheme(of: plan.url)?.utf8.count ?? 0) + 3)
            .drop { !"/?#".utf8.contains($0) }
        guard isLiteral || !path.contains(where: { "{}[]".utf8.contains($0) }) else {
            throw UsageError(
                "curl would send a request for each URL that the brackets describe.",
                "Add --globoff to the curl command if they are part of the URL.")
        }
        let origin = try HTTPRequest(url: plan.url).origin
        for host in hosts where host.lowercased() != origin.authority && host.lowercased() != origin.host {
            _ = try RequestPlan.name("Host")
        }
        if isDigest, hasCredential { options += ["--auth-type", "digest"] }
        if !cookies.isEmpty { plan.headers.append(.cookie, cookies.joined(separator: "; ")) }
        let bodies = [!data.isEmpty && !isGet, !forms.isEmpty, bodyFile != nil, isHead].filter { $0 }
        guard bodies.count <= 1 else {
            throw UsageError("The curl command has several bodies, or one for HEAD.", "Keep one of them.")
        }
        if isGet { addQuery() }
        try await setBody()
        let hasBody = plan.content.mediaType != nil
        let usual = isHead ? "HEAD" : bodyFile != nil ? "PUT" : hasBody ? "POST" : "GET"
        plan.method = HTTPMethod(rawValue: method ?? usual)
    }

    private mutating func addQuery() {
        guard !data.isEmpty else { return }
        let text = CurlEscapes.query(Data(data.joined(separator: [UInt8(ascii: "&")])))
        let fragment = plan.url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? plan.url.endIndex
        let base = String(plan.url[..<fragment])
        plan.url = base + (base.holds("?") ? "&" : "?") + text
        data = []
    }

    private mutating func setBody() async throws {
        if let path = bodyFile {
            if path == "-" { return try await plan.setStandardInput(io, .octetStream) }
            // curl appends the name of the file to a URL that ends with a slash.
            if plan.url.ends(with: "/"), let name = path.utf8.split(separator: UInt8(ascii: "/")).last {
                plan.url += CurlEscapes.escaped(name)
            }
            plan.content = .file(io.path(path))
        } else if !data.isEmpty {
            let separator = isJSON ? [] : [UInt8(ascii: "&")]
            plan.content = .data(Data(data.joined(separator: separator)), type: isJSON ? .json : .form)
            if isJSON, !plan.headers.contains(.accept) { plan.headers.set(.accept, "application/json") }
        } else if !forms.isEmpty {
            plan.content = .multipart(MultipartForm(forms))
        }
    }
}

/// Percent-encoding as curl does it.
enum CurlEscapes {
    /// Escapes every byte that is not unreserved (RFC 3986 §2.3), or is not in `others`.
    static func escaped(_ bytes: some Sequence<UInt8>, keeping others: String = "") -> String {
        bytes.reduce(into: "") { text, byte in
            let isUnreserved =
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) && byte < 0x80
                || "-._~".utf8.contains(byte)
            if isUnreserved || others.utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Returns data as a query. Escapes are kept, and what a query cannot contain is escaped.
    static func query(_ data: Data) -> String {
        var result = ""
        var rest = data[...]
        while let byte = rest.popFirst() {
            let isEscape =
                byte == UInt8(ascii: "%") && rest.count >= 2
                && rest.prefix(2).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            result += isEscape ? "%" : escaped([byte], keeping: "!$&'()*+,;=:@/?")
        }
        return result
    }
}
