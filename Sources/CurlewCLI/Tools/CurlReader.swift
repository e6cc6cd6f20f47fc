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

    private var method: String?
    private var urls: [String] = []
    private var data: [String] = []
    private var parts: [(name: String, value: String)] = []
    private var isGet = false
    private var isHead = false
    private var isJSON = false
    private let io: CommandIO

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
        "-f": "", "--fail": "", "-g": "", "--globoff": "", "--http1.1": "http1.1", "--http2": "http2",
        "--digest": "digest", "--basic": "", "-#": "", "--progress-bar": "", "-N": "", "--no-buffer": "",
        "--path-as-is": "", "--fail-with-body": "",
    ]

    init(_ words: [String], _ io: CommandIO) throws {
        self.io = io
        var rest = words[...]
        guard let program = rest.popFirst(), program == "curl" || program.ends(with: "/curl") else {
            throw UsageError("The command does not begin with curl.", "Write curlew curl 'curl https://...'.")
        }
        while let word = rest.popFirst() { try read(word, &rest) }
        try finish()
    }

    private mutating func read(_ word: String, _ rest: inout ArraySlice<String>) throws {
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
                try set(option, value)
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
                try set(option, value)
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
        case "digest": options += ["--auth-type", "digest"]
        default: break
        }
    }

    private mutating func set(_ option: String, _ value: String) throws {
        switch option {
        case "request": method = value
        case "url": urls.append(value)
        case "header": try setHeader(value)
        case "data": data.append(try text(value, keepsLines: false))
        case "data-binary": data.append(try text(value, keepsLines: true))
        case "data-raw": data.append(value)
        case "data-urlencode": data.append(try encoded(value))
        case "json":
            isJSON = true
            data.append(try text(value, keepsLines: true))
        case "form", "form-string":
            let pair = value.parts("=", most: 2, keepingEmpty: true)
            guard pair.count == 2 else { throw UsageError("--form of curl needs name=value.") }
            let content = String(pair[1])
            parts.append((String(pair[0]), option == "form-string" ? "\\" + content : content))
        case "user": options += ["--auth", value.holds(":") ? value : value + ":"]
        case "bearer": options += ["--auth", value, "--auth-type", "bearer"]
        case "cookie":
            guard value.holds("=") else { throw UsageError("--cookie of curl with a file is not supported.") }
            plan.headers.append(.cookie, value)
        case "user-agent": plan.headers.set(.userAgent, value)
        case "referer": plan.headers.set(.referer, value)
        case "upload-file":
            plan.content = .file(io.path(value))
            method = method ?? "PUT"
        case "cookie-jar", "write-out": warnings.append("--\(option) is ignored.")
        default: options += ["--" + option, value]
        }
    }

    private mutating func setHeader(_ value: String) throws {
        guard let mark = value.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) else {
            throw UsageError("--header of curl needs Name: value.")
        }
        let name = HTTPField.Name(String(value[..<mark]))
        guard name.isValid else { throw UsageError("\"\(name.text)\" is not the name of a header field.") }
        let text = String(value[mark...].dropFirst().trimmed())
        if text.isEmpty, value.utf8[mark] == UInt8(ascii: ":") {
            plan.removed.append(name)
        } else {
            plan.headers.append(name, text)
        }
    }

    private func text(_ value: String, keepsLines: Bool) throws -> String {
        guard value.utf8.first == UInt8(ascii: "@") else { return value }
        let content = try io.contents(of: String(value.dropFirst()), limit: RequestPlan.valueLimit)
        let text = String(decoding: content, as: UTF8.self)
        return keepsLines ? text : text.without { $0 == 0x0A || $0 == 0x0D }
    }

    private func encoded(_ value: String) throws -> String {
        guard let mark = value.utf8.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else {
            return PercentCoding.encode(value, for: .formValue)
        }
        let name = value[..<mark]
        let rest = String(value[mark...].dropFirst())
        let content = value.utf8[mark] == UInt8(ascii: "@") ? try text("@" + rest, keepsLines: true) : rest
        return (name.isEmpty ? "" : name + "=") + PercentCoding.encode(content, for: .formValue)
    }

    private mutating func finish() throws {
        guard let first = urls.first else { throw UsageError("The curl command has no URL.") }
        guard urls.count == 1 else { throw UsageError("The curl command has several URLs.", "Run it once for each.") }
        // curl uses http for URLs without a scheme.
        plan.url = first.utf8.firstRange(of: "://".utf8) == nil ? "http://" + first : try URLShorthand.complete(first)
        if isGet {
            plan.query += data.map { pair in
                let parts = pair.parts("=", most: 2, keepingEmpty: true)
                let value = parts.count > 1 ? String(parts[1]) : ""
                return (
                    PercentCoding.decodeForm(String(parts.first ?? "")) ?? "", PercentCoding.decodeForm(value) ?? value
                )
            }
        } else if !data.isEmpty {
            let body = data.joined(separator: isJSON ? "" : "&")
            plan.content = .data(Data(body.utf8), type: isJSON ? .json : .form)
            if isJSON, !plan.headers.contains(.accept) { plan.headers.set(.accept, "application/json") }
        } else if !parts.isEmpty {
            plan.content = .multipart(MultipartForm(try parts.map { try part($0.name, $0.value) }))
        }
        let usual = isHead ? "HEAD" : plan.content.mediaType == nil ? "GET" : "POST"
        plan.method = HTTPMethod(rawValue: method ?? usual)
    }

    private func part(_ name: String, _ value: String) throws -> MultipartForm.Part {
        if value.utf8.first == UInt8(ascii: "\\") { return .field(name, String(value.dropFirst())) }
        guard value.utf8.first == UInt8(ascii: "@") else { return .field(name, value) }
        let pieces = value.dropFirst().parts(";")
        let type = pieces.dropFirst().first { $0.begins(with: "type=") }.flatMap { MediaType(String($0.dropFirst(5))) }
        return .file(name, path: io.path(String(pieces.first ?? "")), type: type)
    }
}
