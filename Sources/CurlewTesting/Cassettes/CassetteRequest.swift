// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewJSON
import CurlewRecording

/// A request as a cassette compares it: redacted, whether it was recorded or is sent now.
struct CassetteRequest: Sendable {
    /// The parts that must be equal to those of an entry. Items are "name=value", percent-encoded, because texts that
    /// are canonically equivalent are different requests.
    struct Key: Hashable, Sendable {
        let method: String
        let origin: String
        let path: String
        let query: [String]
        let fields: [String]
        let body: Body
    }

    /// JSON as a value, a form as pairs, any other body by its bytes.
    enum Body: Hashable, Sendable {
        case bytes(Data)
        case json(JSONValue)
        case form([String])
    }

    let key: Key
    let line: String
    /// The number of bytes of the redacted body.
    let bodySize: Int

    /// The request is redacted again, because another program may have recorded it.
    init(_ recorded: HARDocument.Request, _ matching: Cassette.Matching, _ redaction: Redaction) {
        var request = recorded
        request.redact(redaction, .kept)
        let (origin, path, query) = Self.parts(of: request.url)
        let items = [HARDocument.NameValue](pairs: query)
        let names = Set(matching.fields.map { $0.text.lowercased() })
        let fields = request.headers.map { HARDocument.NameValue(name: $0.name.lowercased(), value: $0.value) }
        let type = HTTPHeaders(recorded: request.headers)[.contentType] ?? request.postData?.mimeType
        let data = (try? request.postData?.data()) ?? Data()
        key = Key(
            method: request.method, origin: origin, path: path,
            query: Self.sorted(items.filter { !matching.ignoredQueryItems.contains($0.name) }),
            fields: Self.sorted(fields.filter { names.contains($0.name) }),
            body: Self.body(data, type.flatMap { MediaType($0) }))
        line = "\(request.method) \(origin)\(path)\(query.isEmpty ? "" : "?" + query)"
        bodySize = data.count
    }

    private static func body(_ data: Data, _ type: MediaType?) -> Body {
        guard !data.isEmpty, let type else { return .bytes(data) }
        if type.isJSON, let value = try? FastJSONDecoder().decode(JSONValue.self, from: data) { return .json(value) }
        if type.essence == MediaType.form.essence {
            return .form(sorted([HARDocument.NameValue](pairs: String(decoding: data, as: UTF8.self))))
        }
        // Each request has a boundary of its own.
        guard type.type == "multipart", let boundary = type[parameter: "boundary"], !boundary.isEmpty else {
            return .bytes(data)
        }
        let parts = data.split(separator: Data(boundary.utf8), omittingEmptySubsequences: false)
        return .bytes(Data(parts.joined(separator: "boundary".utf8)))
    }

    /// Returns the pairs sorted by name. Pairs with the same name keep their order.
    private static func sorted(_ pairs: [HARDocument.NameValue]) -> [String] {
        pairs.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map { _, pair in
            [pair.name, pair.value].map { PercentCoding.encode($0, for: .formValue) }.joined(separator: "=")
        }
    }

    /// Returns the parts of a URL. One that a file contains may be invalid, and is then all path.
    private static func parts(of url: String) -> (origin: String, path: String, query: String) {
        guard let parts = try? URLParts(url) else { return ("", url, "") }
        let pieces = parts.target.parts("?", maximum: 2, keepingEmpty: true)
        // Programs encode different characters.
        let path = (pieces.first ?? "/").parts("/", keepingEmpty: true).map { segment in
            PercentCoding.decode(String(segment)).map { PercentCoding.encode($0, for: .pathSegment) } ?? String(segment)
        }
        return (parts.origin.description, path.joined(separator: "/"), pieces.count > 1 ? String(pieces[1]) : "")
    }

    /// Returns what differs from the request of an entry: the path, the method, and then the other parts.
    func differences(from entry: CassetteRequest) -> [String] {
        let (mine, theirs) = (key, entry.key)
        var found = RoutePattern(HTTPMethod(rawValue: theirs.method), theirs.path)
            .differences(from: HTTPMethod(rawValue: mine.method), mine.path)
        if mine.origin != theirs.origin { found.append("the origin is \(mine.origin), not \(theirs.origin)") }
        for (kind, mine, theirs) in [("query item", mine.query, theirs.query), ("field", mine.fields, theirs.fields)]
        where mine != theirs {
            if let item = mine.first(where: { !theirs.contains($0) }) {
                found.append("the entry lacks the \(kind) \(item)")
            } else if let item = theirs.first(where: { !mine.contains($0) }) {
                found.append("the request lacks the \(kind) \(item)")
            } else {
                found.append("the \(kind)s have another order or number")
            }
        }
        if mine.body != theirs.body {
            found.append("the body (\(bodySize) bytes) differs from that of the entry (\(entry.bodySize) bytes)")
        }
        return found
    }
}

struct CassetteIndex: Sendable {
    struct Slot: Sendable {
        let entry: HARDocument.Entry
        let request: CassetteRequest
        let number: Int
        var isUsed = false
    }

    private(set) var slots: [Slot] = []
    /// The indices of the entries for a request, and the number of replayed ones.
    private var queues: [CassetteRequest.Key: (indices: [Int], used: Int)] = [:]
    private let options: Cassette.Options

    init(_ entries: [HARDocument.Entry], options: Cassette.Options) {
        self.options = options
        for (index, entry) in entries.enumerated() {
            let request = CassetteRequest(entry.request, options.matching, options.redaction)
            slots.append(Slot(entry: entry, request: request, number: index + 1))
            queues[request.key, default: ([], 0)].indices.append(index)
        }
    }

    /// Returns the next entry for a request, and marks it as used; nil if there is none.
    mutating func take(_ request: CassetteRequest) -> Slot? {
        guard let queue = queues[request.key] else { return nil }
        guard queue.used < queue.indices.count else {
            return options.exhaustion == .repeatLast ? queue.indices.last.map { slots[$0] } : nil
        }
        queues[request.key]?.used += 1
        let index = queue.indices[queue.used]
        slots[index].isUsed = true
        return slots[index]
    }

    /// Returns the number of entries for a request, used or not.
    func count(_ request: CassetteRequest) -> Int { queues[request.key]?.indices.count ?? 0 }

    /// Returns the report about a request that no entry matches. `redaction` has the secrets of the client, too, which
    /// an entry of another program may contain.
    func mismatch(_ request: CassetteRequest, _ redaction: Redaction) -> RequestMismatch {
        func candidate(_ slot: Slot, _ entry: CassetteRequest) -> RequestMismatch.Candidate {
            var found = request.differences(from: entry)
            if found.isEmpty { found = [slot.isUsed ? "it was already replayed" : "the entry has other secrets"] }
            return RequestMismatch.Candidate(
                name: "\(entry.line) (entry \(slot.number))", differences: found,
                commonPrefix: RequestMismatch.Candidate.commonPrefix(entry.key.path, request.key.path))
        }
        let nearest = slots.map { ($0, candidate($0, $0.request)) }.min { $0.1.isNearer(than: $1.1) }?.0
        let shown = nearest.map {
            candidate($0, CassetteRequest($0.entry.request, options.matching, redaction))
        }
        let count = count(request)
        return RequestMismatch(
            count > 0
                ? "All \(count) recordings of \(request.line) were replayed.".printable
                : "No entry of the cassette matches \(request.line).".printable,
            among: shown.map { [$0] } ?? [], noun: .entry, count: slots.count)
    }
}
