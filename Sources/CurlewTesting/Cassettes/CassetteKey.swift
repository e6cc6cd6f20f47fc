// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    let fields: [ItemDifference.Item]
    /// The redacted body.
    let body: Data
    /// Whether the secrets in the body were recognized. Other bodies are compared, but never shown.
    let isLegible: Bool
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
        method: String, url: String, fields: [HARDocument.NameValue], body: (data: Data, isLegible: Bool),
        mediaType: MediaType?
    ) {
        self.method = method
        let parts = CassetteURL(url)
        origin = parts.origin
        path = parts.path
        query = parts.query
        self.fields = fields.map { ItemDifference.Item(name: $0.name.lowercased(), value: $0.value) }
        self.body = body.data
        isLegible = body.isLegible
        self.mediaType = mediaType
    }

    /// The method and the URL.
    var line: String { "\(method) \(origin)\(path)\(query.isEmpty ? "" : "?" + query)" }
    /// The name of the table of an index in which the request is found.
    var route: String { "\(method) \(path)" }

    func bodyValue(_ matching: Cassette.BodyMatching) -> CassetteKey.Body {
        guard !body.isEmpty, matching != .ignored else { return .none }
        switch matching {
        case .automatic where mediaType?.isJSON == true, .json:
            if let value = try? FastJSONDecoder().decode(JSONValue.self, from: body) { return .json(value) }
        case .automatic where mediaType?.essence == MediaType.form.essence, .form:
            return .form(ItemDifference.items(of: String(decoding: body, as: UTF8.self)).stablySorted())
        case .automatic:
            if let mediaType, mediaType.type == "multipart", let boundary = mediaType[parameter: "boundary"] {
                return .bytes(body.replacing(boundary))
            }
        default: break
        }
        return .bytes(body)
    }

    func key(_ matching: Cassette.Matching) -> CassetteKey {
        let items = query.isEmpty ? [] : ItemDifference.items(of: query)
        let kept = items.filter { !matching.ignoredQueryItems.contains($0.name) }
        let names = Set(matching.fields.map { $0.text.lowercased() })
        return CassetteKey(
            origin: matching.origin ? origin : "", query: matching.queryOrder ? kept : kept.stablySorted(),
            fields: names.isEmpty ? [] : fields.filter { names.contains($0.name) }.stablySorted(),
            body: bodyValue(matching.body))
    }
}

/// The parts of a request that must be equal to those of an entry, except for the method and the path.
struct CassetteKey: Hashable, Sendable {
    enum Body: Hashable, Sendable {
        case none
        case bytes(Data)
        case json(JSONValue)
        case form([ItemDifference.Item])
    }

    let origin: String
    let query: [ItemDifference.Item]
    let fields: [ItemDifference.Item]
    let body: Body
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

extension [ItemDifference.Item] {
    /// The items sorted by name. Items with the same name keep their order.
    func stablySorted() -> [ItemDifference.Item] {
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
