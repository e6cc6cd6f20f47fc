// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewRecording

/// A request as a cassette compares it: redacted, whether it was recorded or is sent now.
struct CassetteRequest: Sendable {
    let method: String
    /// The redacted origin, such as `https://api.example.com`.
    let origin: String
    /// The redacted path, normalized.
    let path: String
    /// The redacted query, without the question mark.
    let query: String
    /// The redacted fields, with their names in lower case.
    let fields: [CassetteItem]
    /// The redacted body.
    let body: Data
    let mediaType: MediaType?

    /// Creates the value for a request that is sent now.
    init(_ request: HTTPRequest, body: Data, redactor: CassetteRedactor) {
        let mediaType = request.headers[.contentType].flatMap { MediaType($0) }
        self.init(
            method: request.method.rawValue, url: redactor.url(request.urlString),
            fields: redactor.fields(request.headers), body: redactor.compared(body, mediaType), mediaType: mediaType)
    }

    /// Creates the value for an entry. It is redacted again, because another program may have recorded it.
    init(_ entry: HARDocument.Entry, redaction: Redaction) {
        let headers = HTTPHeaders(recorded: entry.request.headers)
        let redactor = CassetteRedactor(redaction: redaction)
        let type = headers[.contentType] ?? entry.request.postData?.mimeType
        let mediaType = type.flatMap { MediaType($0) }
        let data = (try? entry.request.postData?.data()) ?? Data()
        self.init(
            method: entry.request.method, url: redactor.url(entry.request.url), fields: redactor.fields(headers),
            body: redactor.compared(data, mediaType), mediaType: mediaType)
    }

    private init(
        method: String, url: String, fields: [HARDocument.NameValue], body: Data, mediaType: MediaType?
    ) {
        self.method = method
        let parts = CassetteURL(url)
        origin = parts.origin
        path = parts.path
        query = parts.query
        self.fields = fields.map { CassetteItem(name: $0.name.lowercased(), value: $0.value) }
        self.body = body
        self.mediaType = mediaType
    }

    /// The method and the URL.
    var line: String { "\(method) \(origin)\(path)\(query.isEmpty ? "" : "?" + query)" }
    /// The name of the table of an index in which the request is found.
    var route: String { "\(method) \(path)" }

    /// The body as it is compared: JSON as a value, a form as pairs, any other body by its bytes.
    private var bodyValue: CassetteKey.Body {
        if body.isEmpty { return .bytes(body) }
        if mediaType?.isJSON == true, let value = try? FastJSONDecoder().decode(JSONValue.self, from: body) {
            return .json(value)
        }
        if mediaType?.essence == MediaType.form.essence {
            return .form(CassetteItem.items(of: String(decoding: body, as: UTF8.self)).stablySorted())
        }
        if let mediaType, mediaType.type == "multipart", let boundary = mediaType[parameter: "boundary"] {
            return .bytes(body.replacing(boundary))
        }
        return .bytes(body)
    }

    func key(_ matching: Cassette.Matching) -> CassetteKey {
        let items = query.isEmpty ? [] : CassetteItem.items(of: query)
        let kept = items.filter { !matching.ignoredQueryItems.contains($0.name) }
        let names = Set(matching.fields.map { $0.text.lowercased() })
        return CassetteKey(
            origin: matching.origin ? origin : "", query: kept.stablySorted(),
            fields: names.isEmpty ? [] : fields.filter { names.contains($0.name) }.stablySorted(),
            body: bodyValue)
    }
}

/// The parts of a request that must be equal to those of an entry, except for the method and the path.
struct CassetteKey: Hashable, Sendable {
    enum Body: Hashable, Sendable {
        case bytes(Data)
        case json(JSONValue)
        case form([CassetteItem])
    }

    let origin: String
    let query: [CassetteItem]
    let fields: [CassetteItem]
    let body: Body
}

/// A name with its value, decoded and redacted: an item of a query, a field of a form, a header field. Items are compared
/// by their bytes: texts that are canonically equivalent are different requests.
struct CassetteItem: Hashable, Sendable {
    let name: String
    let value: String

    static func == (left: CassetteItem, right: CassetteItem) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for text in [name, value] {
            for byte in text.utf8 { hasher.combine(byte) }
            hasher.combine(UInt8(0xFF))
        }
    }

    /// Returns the decoded pairs of a query or a form in their order.
    static func items(of text: some StringProtocol) -> [CassetteItem] {
        String(text).parts("&").map { pair in
            let pieces = pair.parts("=", most: 2, keepingEmpty: true).map(String.init)
            let decoded = pieces.map { PercentCoding.decodeForm($0) ?? $0 }
            return CassetteItem(name: decoded.first ?? "", value: decoded.count > 1 ? decoded[1] : "")
        }
    }
}

/// The parts of a URL that may be invalid, because a file contains it.
struct CassetteURL {
    var origin = ""
    var path = "/"
    var query = ""

    init(_ url: String) {
        let text = url.upTo("#")
        let bytes = text.utf8
        let authority = bytes.firstRange(of: "://".utf8)?.upperBound ?? bytes.startIndex
        let end = bytes[authority...].firstIndex { $0 == 0x2F || $0 == 0x3F } ?? bytes.endIndex
        let written = String(text[..<end])
        // A file may contain the default port, or a host in upper case.
        origin = (try? URLParts(written))?.origin.description ?? written
        let mark = bytes[end...].firstIndex(of: 0x3F) ?? bytes.endIndex
        let encoded = String(text[end..<mark])
        path = encoded.isEmpty ? "/" : Self.normalized(encoded)
        query = mark == bytes.endIndex ? "" : String(Substring(bytes[mark...].dropFirst()))
    }

    /// Returns the path with each segment decoded and encoded again, because programs encode different characters.
    private static func normalized(_ path: String) -> String {
        guard path.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 >= 0x80 }) else { return path }
        return path.parts("/", keepingEmpty: true).map { segment in
            let text = String(segment)
            return PercentCoding.decode(text).map { PercentCoding.encode($0, for: .pathSegment) } ?? text
        }.joined(separator: "/")
    }
}

extension [CassetteItem] {
    /// The items sorted by name. Items with the same name keep their order.
    func stablySorted() -> [CassetteItem] {
        count < 2
            ? self
            : enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
                .map(\.element)
    }
}

extension Data {
    /// Returns the bytes with a boundary replaced by a constant.
    fileprivate func replacing(_ boundary: String) -> Data {
        let mark = Data(boundary.utf8)
        guard !mark.isEmpty else { return self }
        var result = Data()
        var rest = self[...]
        while let range = rest.firstRange(of: mark) {
            result += rest[..<range.lowerBound]
            result += Data("boundary".utf8)
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

extension HTTPHeaders {
    /// Creates headers from recorded fields, without pseudo-fields such as `:authority`.
    init(recorded fields: [HARDocument.NameValue]) {
        self.init()
        for field in fields where !field.name.begins(with: ":") { append(HTTPField.Name(field.name), field.value) }
    }
}
