// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A curl command as a request and options of `curlew`.
struct CurlReader {
    private(set) var plan = RequestPlan(method: .get, url: "", headers: HTTPHeaders(), content: .none)
    /// The options of `curlew` that correspond to options of curl.
    private(set) var options: [String] = []
    /// What curl would do and `curlew` does not.
    private(set) var warnings: [String] = []

    /// The file that is the body; `-` is the standard input.
    private(set) var bodyFile: String?
    /// The bytes of the body, if these are in memory.
    private(set) var bodyData: Data?
    private(set) var forms: [CurlForm] = []

    private var method: String?
    private var urls: [String] = []
    private var data: [Piece] = []
    private var cookies: [String] = []
    private var hosts: [String] = []
    private var hasCredential = false
    private var isDigest = false
    private var isLiteral = false
    private var isGet = false
    private var isHead = false
    private var isJSON = false
    private let io: CommandIO

    /// An argument of `--data` and its relatives.
    private struct Piece {
        var bytes: Data
        /// The file whose bytes these are, unchanged.
        var file: String?
    }

    /// The options that have an argument, by their short and long names, with the long name to which they are mapped.
    private static let withArgument: [String: String] = [
        "-X": "request", "-H": "header", "-d": "data", "-F": "form", "-u": "user", "-b": "cookie", "-A": "user-agent",
        "-e": "referer", "-o": "output", "-x": "proxy", "-m": "max-time", "-E": "cert", "-T": "upload-file",
        "--request": "request", "--header": "header", "--data": "data", "--data-ascii": "data",
        "--data-raw": "data-raw", "--data-binary": "data-binary", "--data-urlencode": "data-urlencode",
        "--json": "json", "--form": "form", "--form-string": "form-string", "--user": "user", "--cookie": "cookie",
        "--user-agent": "user-agent", "--referer": "referer", "--output": "output", "--proxy": "proxy",
        "--max-time": "max-time", "--connect-timeout": "connect-timeout", "--cacert": "cacert", "--cert": "cert",
        "--key": "key", "--url": "url", "--upload-file": "upload-file", "--retry": "retry", "--resolve": "resolve",
        "--unix-socket": "unix-socket", "--oauth2-bearer": "bearer",
        "-c": "cookie-jar", "--cookie-jar": "cookie-jar", "-w": "write-out", "--write-out": "write-out",
    ]

    private static let switches: [String: String] = [
        "-I": "head", "--head": "head", "-G": "get", "--get": "get", "-L": "location", "--location": "location",
        "-k": "insecure", "--insecure": "insecure", "--compressed": "", "-s": "", "--silent": "", "-S": "",
        "--show-error": "", "-i": "include", "--include": "include", "-v": "verbose", "--verbose": "verbose",
        "-f": "", "--fail": "", "-g": "globoff", "--globoff": "globoff", "--http1.1": "http1.1", "--http2": "http2",
        "--digest": "digest", "--basic": "", "-#": "", "--progress-bar": "", "-N": "", "--no-buffer": "",
        "--path-as-is": "", "--fail-with-body": "",
    ]

    init(_ words: [String], _ io: CommandIO) async throws {
        self.io = io
        var rest = words[...]
        guard let program = rest.popFirst(), program == "curl" || program.ends(with: "/curl") else {
            throw UsageError("The command does not begin with curl.", "Write curlew curl 'curl https://...'.")
        }
        while let word = rest.popFirst() { try await read(word, &rest) }
        try await finish()
    }

    private mutating func read(_ word: String, _ rest: inout ArraySlice<String>) async throws {
        guard word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 else {
            urls.append(word)
            return
        }
        if word.begins(with: "--") {
            let name = String(word.upTo("="))
            if let option = Self.withArgument[name] {
                let inlined = name == word ? nil : String(word.dropFirst(name.count + 1))
                guard let value = inlined ?? rest.popFirst() else {
                    throw UsageError("\(name) of curl has no argument.")
                }
                try await set(option, value)
            } else if let option = Self.switches[word] {
                setSwitch(option)
            } else {
                throw UsageError("The option \(word) of curl is not supported.", "Remove it from the command.")
            }
            return
        }
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            if let option = Self.withArgument[name] {
                guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                    throw UsageError("\(name) of curl has no argument.")
                }
                try await set(option, value)
                return
            }
            guard let option = Self.switches[name] else {
                throw UsageError("The option \(name) of curl is not supported.", "Remove it from the command.")
            }
            setSwitch(option)
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
        case "http1.1", "http2": options.append("--" + option)
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
        case "data": data.append(Piece(bytes: try await bytes(value, keepsLines: false)))
        case "data-binary":
            let file = value.utf8.first == UInt8(ascii: "@") && value != "@-" ? String(value.dropFirst()) : nil
            data.append(Piece(bytes: try await bytes(value, keepsLines: true), file: file))
        case "data-raw": data.append(Piece(bytes: Data(value.utf8)))
        case "data-urlencode": data.append(Piece(bytes: try await encoded(value)))
        case "json":
            isJSON = true
            data.append(Piece(bytes: try await bytes(value, keepsLines: true)))
        case "form", "form-string": forms.append(try CurlForm(value, isLiteral: option == "form-string"))
        case "user":
            hasCredential = true
            options += ["--auth", Credential.literal(value.holds(":") ? value : value + ":")]
        case "bearer":
            hasCredential = true
            options += ["--auth", Credential.literal(value), "--auth-type", "bearer"]
        case "cookie":
            guard value.holds("=") else { throw UsageError("--cookie of curl with a file is not supported.") }
            cookies.append(value)
        case "user-agent":
            if value.isEmpty { plan.removed.append(.userAgent) } else { plan.headers.set(.userAgent, value) }
        case "cert" where value.holds(":"):
            throw UsageError(
                "--cert of curl with a password is not supported.", "Decrypt the key, and give it without a password.")
        case "referer": if !value.isEmpty { plan.headers.set(.referer, value) }
        case "upload-file": bodyFile = value
        case "cookie-jar", "write-out": warnings.append("--\(option) is ignored.")
        // Zero is no limit.
        case "max-time" where value == "0", "connect-timeout" where value == "0": break
        default: options += ["--" + option, value]
        }
    }

    private mutating func setHeader(_ value: String) throws {
        guard let mark = value.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) else {
            throw UsageError("--header of curl needs Name: value.")
        }
        let text = String(value[mark...].dropFirst().trimmed())
        let isRemoved = text.isEmpty && value.utf8[mark] == UInt8(ascii: ":")
        let isOurs = !isRemoved && isFieldOfConnection(String(value[..<mark]), text)
        if isOurs { return }
        let name = try RequestPlan.name(String(value[..<mark]), isRemoved: isRemoved)
        if isRemoved {
            plan.removed.append(name)
        } else {
            plan.headers.append(name, text)
        }
    }

    /// Returns true for a field that the transport writes. Browsers copy some of these into their curl commands.
    private mutating func isFieldOfConnection(_ name: String, _ value: String) -> Bool {
        switch (name.lowercased(), value.lowercased()) {
        case ("host", _): hosts.append(value)
        case ("connection", "keep-alive"), ("te", _), ("content-length", _): break
        case ("connection", _), ("keep-alive", _), ("proxy-connection", _), ("transfer-encoding", _), ("upgrade", _):
            warnings.append("The field \(name.printable) is ignored: the connection writes it.")
        default: return false
        }
        return true
    }

    /// Returns the bytes of an argument, of which `@file` and `@-` name a file.
    private func bytes(_ value: String, keepsLines: Bool) async throws -> Data {
        guard value.utf8.first == UInt8(ascii: "@") else { return Data(value.utf8) }
        let path = String(value.dropFirst())
        let content: Data
        if path == "-" {
            content = try await input()
        } else {
            content = try io.contents(of: path, limit: RequestPlan.valueLimit)
        }
        return keepsLines ? content : content.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
    }

    private func input() async throws -> Data {
        var all = Data()
        while let piece = try await io.read() {
            all.append(piece)
            guard all.count <= RequestPlan.valueLimit else {
                throw UsageError("The input has more than 64 MiB.", "Send it as the body: curl -T -.")
            }
        }
        return all
    }

    private func encoded(_ value: String) async throws -> Data {
        guard let mark = value.utf8.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else {
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
            let text = PercentCoding.decode(parts.userinfo) ?? parts.userinfo
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
        let usual = isHead ? "HEAD" : bodyFile != nil && data.isEmpty ? "PUT" : hasBody ? "POST" : "GET"
        plan.method = HTTPMethod(rawValue: method ?? usual)
    }

    private var hasBody: Bool { plan.content.mediaType != nil }

    private mutating func addQuery() {
        guard !data.isEmpty else { return }
        let text = CurlEscapes.query(Data(data.map(\.bytes).joined(separator: [UInt8(ascii: "&")])))
        let fragment = plan.url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? plan.url.endIndex
        let base = String(plan.url[..<fragment])
        plan.url = base + (base.holds("?") ? "&" : "?") + text
        data = []
    }

    private mutating func setBody() async throws {
        if let path = bodyFile {
            if path == "-" {
                try await plan.setStandardInput(io, .octetStream)
                return
            }
            // curl appends the name of the file to a URL that ends with a slash.
            if plan.url.ends(with: "/"), let name = path.parts("/").last { plan.url += CurlEscapes.escaped(name.utf8) }
            plan.content = .file(io.path(path))
        } else if !data.isEmpty {
            let separator = isJSON ? [] : [UInt8(ascii: "&")]
            if data.count == 1, let path = data.first?.file { bodyFile = path }
            let bytes = Data(data.map(\.bytes).joined(separator: separator))
            bodyData = bytes
            plan.content = .data(bytes, type: isJSON ? .json : .form)
            if isJSON, !plan.headers.contains(.accept) { plan.headers.set(.accept, "application/json") }
        } else if !forms.isEmpty {
            plan.content = .multipart(MultipartForm(try forms.map { try $0.part(io) }))
        }
    }
}
