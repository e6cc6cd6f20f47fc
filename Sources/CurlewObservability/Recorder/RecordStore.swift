// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The records of the last calls, in a ring that is limited in number and in size.
///
/// It is used under the lock of its recorder, on the threads that record events. It only stores values; whatever can be
/// made of them later is made later. What it stores is redacted.
struct RecordStore {
    /// The records. The oldest is at `first`; a place without a record is nil.
    private var ring: [FlightRecorder.Record?]
    private var first = 0
    private(set) var count = 0
    /// The place of each call in `ring`.
    private var places: [UInt64: Int] = [:]
    private let memory: Int
    private(set) var bytes = 0
    private let redaction: Redaction
    private var filter: FieldFilter
    /// The filters of clients that declare secrets, most recently used last.
    private var declared: [(rules: FieldRules, filter: FieldFilter)] = []

    /// The maximum number of clients whose filters are kept.
    private static let mostFilters = 8
    /// The maximum number of requests, decisions and interim responses that are kept for a call.
    static let mostExchanges = 200
    static let mostDecisions = 400
    static let mostInterim = 20

    init(capacity: Int, memory: Int, redaction: Redaction) {
        ring = [FlightRecorder.Record?](repeating: nil, count: capacity)
        self.memory = memory
        self.redaction = redaction
        filter = FieldFilter(redaction)
        places.reserveCapacity(capacity)
    }

    /// The records, oldest first.
    var records: [FlightRecorder.Record] {
        (0..<count).compactMap { ring[(first + $0) % ring.count] }
    }

    mutating func removeAll() {
        while count > 0 { removeFirst() }
    }

    /// Stores an event. Returns the record of its call if the event is its failure.
    mutating func take(_ event: ExchangeEvent, in context: ExchangeContext) -> FlightRecorder.Record? {
        switch event {
        case .connecting, .lost: return nil
        case .began(let request):
            let place = add(context)
            let head = head(of: request, context)
            ring[place]?.request = head
            grow(place, by: head.size)
        case .sent(let request):
            let place = places[context.id] ?? add(context)
            let head = head(of: request, context)
            guard ring[place].map({ $0.exchanges.count < Self.mostExchanges }) ?? false else { return nil }
            ring[place]?.exchanges.append(
                FlightRecorder.Exchange(
                    number: context.requestNumber ?? 1, attempt: context.attempt, hop: context.hop,
                    start: context.start.duration(to: context.time.now), request: head,
                    bodies: context.facts[RecordedBodies.Key.self]))
            grow(place, by: head.size + 512)
        case .answered(let response):
            let head = head(of: response, context)
            change(context, by: head.size) { $0.response = head }
        case .interim(let status, let headers):
            let interim = FlightRecorder.Interim(
                time: context.start.duration(to: context.time.now), status: status,
                headers: redacted(headers, context))
            change(context, by: interim.headers.size) { exchange in
                if exchange.interim.count < Self.mostInterim { exchange.interim.append(interim) }
            }
        case .attemptFailed(let error):
            let text = error.line
            change(context, by: text.utf8.count) { $0.failure = text }
        case .trailers(let headers):
            let headers = redacted(headers, context)
            change(context, by: headers.size) { $0.trailers = headers }
        case .measured(let metrics):
            change(context, by: 0) { $0.metrics = metrics }
        case .tried(let attempt):
            note("attempt", "attempt \(redaction.text("\(attempt)"))", context)
        case .joined(let other):
            note("joined", "receives the response to the equal request of call \(other)", context)
        case .feature(let feature):
            note(feature.name, feature.description, context)
        case .warned(let warning):
            note("warning", warning.description, context)
        case .succeeded(let response, let duration):
            guard let place = places[context.id], ring[place]?.duration == nil else { return nil }
            ring[place]?.duration = duration
            ring[place]?.outcome = .response(response.status)
            let sources = response.facts.otherSources
            if !sources.isEmpty { ring[place]?.source = sources.joined(separator: ", ") }
            guard ring[place]?.exchanges.isEmpty == true else { return nil }
            let head = head(of: response, context)
            ring[place]?.response = head
            grow(place, by: head.size)
        case .failed(let error, let duration):
            let place = places[context.id] ?? add(context)
            guard ring[place]?.duration == nil else { return nil }
            let text = error.line
            ring[place]?.duration = duration
            ring[place]?.outcome = .failed(text)
            let record = ring[place]
            grow(place, by: text.utf8.count)
            return error.isCancelled ? nil : record
        }
        return nil
    }

    /// Counts bytes that a record holds outside of this store.
    mutating func grow(call: UInt64, by size: Int) {
        if let place = places[call] { grow(place, by: size) }
    }

    // MARK: - Places

    private mutating func add(_ context: ExchangeContext) -> Int {
        if let place = places[context.id] { return place }
        if count == ring.count { removeFirst() }
        let place = (first + count) % ring.count
        let record = FlightRecorder.Record(context)
        count += 1
        ring[place] = record
        places[context.id] = place
        bytes += record.bytes
        return place
    }

    private mutating func removeFirst() {
        if let record = ring[first] {
            bytes -= record.bytes
            places[record.call] = nil
        }
        ring[first] = nil
        first = (first + 1) % ring.count
        count -= 1
    }

    private mutating func grow(_ place: Int, by size: Int) {
        ring[place]?.bytes += size
        bytes += size
        while bytes > memory, count > 0 { removeFirst() }
    }

    private mutating func change(
        _ context: ExchangeContext, by size: Int, _ body: (inout FlightRecorder.Exchange) -> Void
    ) {
        guard let place = places[context.id], let number = context.requestNumber,
            let index = ring[place]?.exchanges.lastIndex(where: { $0.number == number })
        else { return }
        ring[place]?.change(index, body)
        if size > 0 { grow(place, by: size) }
    }

    private mutating func note(_ name: String, _ text: String, _ context: ExchangeContext) {
        guard let place = places[context.id], let position = ring[place]?.exchanges.count,
            (ring[place]?.decisions.count ?? 0) < Self.mostDecisions
        else { return }
        let text = text.clipped(to: 500).joinedLines.printable
        ring[place]?.decisions.append(
            FlightRecorder.Decision(
                time: context.start.duration(to: context.time.now), name: name, text: text,
                position: position))
        grow(place, by: text.utf8.count + 64)
    }

    // MARK: - Redaction

    /// Calls `body` with the filter for a client with these secrets.
    private mutating func filtering<Result>(
        _ secrets: DeclaredSecrets, _ body: (inout FieldFilter) -> Result
    ) -> Result {
        guard let rules = secrets.rules else { return body(&filter) }
        if let last = declared.indices.last, declared[last].rules == rules { return body(&declared[last].filter) }
        if let index = declared.firstIndex(where: { $0.rules == rules }) {
            declared.append(declared.remove(at: index))
        } else {
            if declared.count == Self.mostFilters { declared.removeFirst() }
            declared.append((rules, FieldFilter(secrets.added(to: redaction))))
        }
        return body(&declared[declared.count - 1].filter)
    }

    private mutating func redacted(_ headers: HTTPHeaders, _ context: ExchangeContext) -> HTTPHeaders {
        filtering(context.secrets) { $0.headers(headers) }
    }

    private mutating func head(of request: HTTPRequest, _ context: ExchangeContext) -> FlightRecorder.RequestHead {
        filtering(request.secrets.isEmpty ? context.secrets : request.secrets) { filter in
            FlightRecorder.RequestHead(
                method: request.method, url: filter.url(of: request), headers: filter.headers(request.headers),
                bodyLength: request.body.length, hasBody: !request.body.isEmpty)
        }
    }

    private mutating func head(
        of response: HTTPResponse, _ context: ExchangeContext
    ) -> FlightRecorder.ResponseHead {
        FlightRecorder.ResponseHead(
            status: response.status, reason: response.reasonPhrase, headers: redacted(response.headers, context),
            version: response.version, length: response.body.declaredLength)
    }
}

extension FlightRecorder.Record {
    fileprivate mutating func change(_ index: Int, _ body: (inout FlightRecorder.Exchange) -> Void) {
        body(&exchanges[index])
    }
}

extension HTTPHeaders {
    /// An estimate of the memory of the fields.
    fileprivate var size: Int {
        reduce(0) { $0 + $1.name.text.utf8.count + $1.value.utf8.count + 64 }
    }
}

extension FlightRecorder.RequestHead {
    fileprivate var size: Int { headers.size + url.utf8.count }
}

extension FlightRecorder.ResponseHead {
    fileprivate var size: Int { headers.size }
}
