// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON

/// The request that the arguments describe.
struct RequestPlan: Sendable {
    var method = HTTPMethod.get
    var url = ""
    var query: [(name: String, value: String)] = []
    var headers = HTTPHeaders()
    /// The fields that are not sent, although the client would.
    var removed: [HTTPField.Name] = []
    var content = RequestContent.none

    /// The greatest file that becomes a part of a JSON object or of a form.
    static let valueLimit = 64 << 20

    /// Creates a plan from `[METHOD] URL [ITEM …]`.
    ///
    /// The first operand is the method if it has only letters, and another operand follows that is the URL.
    init(_ arguments: ParsedArguments, operands: [String]? = nil, io: CommandIO) async throws {
        var operands = (operands ?? arguments.operands)[...]
        guard let first = operands.popFirst() else {
            throw UsageError("The URL is missing.", "Write curlew [METHOD] URL [ITEM ...]. See `curlew --help`.")
        }
        var method: HTTPMethod?
        if Self.isMethod(first), let next = operands.first, Self.isURL(next) {
            method = HTTPMethod(rawValue: first.uppercased())
            operands = operands.dropFirst()
            url = try URLShorthand.complete(next)
        } else {
            url = try URLShorthand.complete(first)
        }
        guard URLShorthand.userinfo(of: url) == nil else {
            throw UsageError(
                "The URL contains a user name or a password.",
                "Write --auth USER:PASSWORD, or --auth @FILE, and the URL without them.")
        }
        try await read(operands.map { argument throws(UsageError) in try RequestItem(argument) }, arguments, io)
        self.method = method ?? (content.mediaType == nil ? .get : .post)
    }

    /// Creates a plan from a request that is written in another way.
    init(method: HTTPMethod, url: String, headers: HTTPHeaders, content: RequestContent) {
        self.method = method
        self.url = url
        self.headers = headers
        self.content = content
    }

    /// The words that are methods in upper case, and in lower case if they are well known.
    private static func isMethod(_ text: String) -> Bool {
        let isUpper = text.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
        if isUpper { return text.utf8.first.map { $0 != UInt8(ascii: "-") } ?? false }
        return ["get", "head", "post", "put", "patch", "delete", "options", "query", "trace"].contains(
            text.lowercased())
    }

    /// Whether an operand after a word can be a URL: it is no item, or begins as a URL does.
    private static func isURL(_ text: String) -> Bool {
        if URLShorthand.scheme(of: text) != nil || text.utf8.first == UInt8(ascii: ":") { return true }
        guard let item = try? RequestItem(text) else { return true }
        // A port, as in host:8080/path.
        guard case .header(_, let value) = item else { return false }
        let port = value.utf8.prefix { (0x30...0x39).contains($0) }
        return !port.isEmpty && (port.endIndex == value.endIndex || "/?#".utf8.contains(value.utf8[port.endIndex]))
    }

    // MARK: - Items

    private mutating func read(_ items: [RequestItem], _ arguments: ParsedArguments, _ io: CommandIO) async throws {
        for item in items {
            switch item {
            case .header(let name, let value): headers.append(try Self.name(name), value)
            case .emptyHeader(let name): headers.append(try Self.name(name), "")
            case .removedHeader(let name): removed.append(try Self.name(name, isRemoved: true))
            case .query(let name, let value): query.append((name, value))
            default: break
            }
        }
        let kinds = [OptionName.json, .form, .multipart].filter { arguments.has($0) }
        guard kinds.count <= 1 else { throw UsageError("--json, --form and --multipart exclude each other.") }
        if kinds == [.json], !headers.contains(.accept) { headers.append(.accept, "application/json, */*;q=0.5") }
        let data = items.filter(\.isData)
        let whole: MediaType? = kinds == [.json] ? .json : kinds == [.form] ? .form : nil
        if let raw = arguments[.raw] {
            guard data.isEmpty else { throw UsageError("--raw and items for the body exclude each other.") }
            guard kinds != [.multipart] else { throw UsageError("--raw and --multipart exclude each other.") }
            content = .text(raw, type: whole ?? Self.guessedType(raw))
            return
        }
        for case .body(let path) in data {
            guard data.count == 1 else { throw UsageError("@file and other items for the body exclude each other.") }
            guard kinds != [.multipart] else {
                throw UsageError("@file is the whole body, which --multipart cannot be.", "Write name@file.")
            }
            if path == "-" {
                try await setStandardInput(io, whole)
            } else {
                content = .file(io.path(path), type: whole)
            }
            return
        }
        guard !data.isEmpty else { return }
        let hasFile = data.contains { if case .file = $0 { true } else { false } }
        if arguments.has(.multipart) || arguments.has(.form) && hasFile {
            content = .multipart(MultipartForm(try data.compactMap { try Self.part($0, io) }))
        } else if arguments.has(.form) {
            let fields = try data.compactMap { try Self.value(of: $0, io) }
            content = .form(QueryItems(fields.map { ($0, $1.string ?? "\($1)") }))
        } else {
            guard !hasFile else {
                throw UsageError(
                    "A file cannot be a part of a JSON object.",
                    "Add --form or --multipart, or write name=@file to send its text.")
            }
            var object = JSONValue.Object()
            for (name, value) in try data.compactMap({ try Self.value(of: $0, io) }) { object[name] = value }
            content = .json(.object(object))
        }
    }

    /// Returns the name of a field that can be set, or removed.
    static func name(_ text: String, isRemoved: Bool = false) throws(UsageError) -> HTTPField.Name {
        let name = HTTPField.Name(text)
        guard name.isValid else { throw UsageError("\"\(text)\" is not the name of a header field.") }
        guard name != "Host" else {
            throw UsageError(
                "The field Host has the host of the URL.",
                "Write the host into the URL.")
        }
        let framing: [HTTPField.Name] = [.contentLength, .transferEncoding, "Connection"]
        guard !isRemoved || !framing.contains(name) else {
            throw UsageError("The field \(name) cannot be removed.", "The connection needs it.")
        }
        return name
    }

    /// Returns the name and the value of an item for a JSON object or a form; nil for other items.
    private static func value(of item: RequestItem, _ io: CommandIO) throws -> (String, JSONValue)? {
        switch item {
        case .text(let name, let value): (name, .string(value))
        case .textFile(let name, let path): (name, .string(try text(path, io)))
        case .json(let name, let value): (name, try json(value, name))
        case .jsonFile(let name, let path): (name, try json(text(path, io), name))
        default: nil
        }
    }

    private static func part(_ item: RequestItem, _ io: CommandIO) throws -> MultipartForm.Part? {
        if case .file(let name, let location) = item { return try file(name, location, io) }
        return try value(of: item, io).map { .field($0, $1.string ?? "\($1)") }
    }

    /// Returns the part for a file: a path, and `;type=…` after it.
    static func file(_ name: String, _ location: String, _ io: CommandIO) throws -> MultipartForm.Part {
        guard let mark = location.utf8.firstRange(of: ";type=".utf8) else {
            return .file(name, path: io.path(location))
        }
        let type = String(location[mark.upperBound...])
        guard let mediaType = MediaType(type) else { throw UsageError("\"\(type)\" is not a media type.") }
        return .file(name, path: io.path(String(location[..<mark.lowerBound])), type: mediaType)
    }

    private static func json(_ text: String, _ name: String) throws(UsageError) -> JSONValue {
        do {
            return try FastJSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        } catch {
            throw UsageError(
                "The value of \(name) is not JSON. \(NetworkError(error).detail)".printable,
                "Write \(name)=value for a text.")
        }
    }

    private static func text(_ path: String, _ io: CommandIO) throws -> String {
        let data = try io.contents(of: path, limit: valueLimit)
        let text = String(decoding: data, as: UTF8.self)
        guard text.utf8.elementsEqual(data) else {
            throw UsageError(
                "\(path) is not UTF-8, so it is no text.", "Send it as a file: @\(path), or name@\(path) with --form.")
        }
        return text
    }

    private static func guessedType(_ text: String) -> MediaType {
        let first = text.utf8.first { $0 > 0x20 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .json : .text
    }

    /// Makes the standard input the body: in memory if it has at most 1 MiB, otherwise streamed.
    mutating func setStandardInput(_ io: CommandIO, _ type: MediaType?) async throws {
        var start = Data()
        while start.count <= 1 << 20 {
            guard let piece = try await io.read() else {
                let guess = Self.guessedType(String(decoding: start.prefix(64), as: UTF8.self))
                content = .data(start, type: type ?? guess)
                return
            }
            start.append(piece)
        }
        let rest = Locked<Data?>(start)
        content = .stream(type: type ?? .octetStream) {
            RequestBody.Chunks(
                AsyncThrowingStream {
                    if let start = rest.withLock({ $0.take() }) { return start }
                    return try await io.read()
                })
        }
    }
}

extension RequestPlan {
    /// The URL with the query items.
    var completeURL: String {
        guard !query.isEmpty else { return url }
        let fragment = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let base = url[..<fragment]
        let items = query.map { Self.queryText($0.name) + "=" + Self.queryText($0.value) }.joined(separator: "&")
        return base + (base.holds("?") ? "&" : "?") + items
    }

    /// Returns a name or value of the query with all bytes percent-encoded except letters, digits and `-._~`.
    private static func queryText(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            let code = String(byte, radix: 16, uppercase: true)
            result += isPlain ? String(character) : (byte < 0x10 ? "%0" : "%") + code
        }
    }

    /// The call, with the fields that the command adds.
    func call<Value>(
        accept: String = "*/*", make: (HTTPMethod, String, RequestContent, HTTPHeaders) -> Request<Value>
    ) -> Request<Value> {
        var headers = headers
        if !headers.contains(.accept), !removed.contains(.accept) { headers.set(.accept, accept) }
        let request = make(method, completeURL, content, headers)
        // Without the field, the server may not encode the body, so there is nothing to decode.
        return removed.contains(.acceptEncoding) ? request.options { $0.skipsContentDecoding = true } : request
    }
}
