// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The records of the last calls, in a ring that is limited in number and in size.
///
/// It is used under the lock of its recorder, on the threads that record events, and stores only redacted values.
struct RecordStore {
    /// A record at a fixed address, which is changed in place.
    private final class Slot {
        @exclusivity(unchecked) var record: FlightRecorder.Record

        var call: UInt64 { record.call }

        init(_ record: FlightRecorder.Record) {
            self.record = record
        }
    }

    /// The ring buffer of records. The oldest is at `first`; a free slot is nil.
    private var ring: [Slot?]
    private var first = 0
    private(set) var count = 0
    /// The index of each call in `ring`.
    private var positions: [UInt64: Int] = [:]
    private var unused: Slot?
    /// The slot that was used last. Most events follow another one of their call.
    private var latest: Slot?
    private let memory: Int
    private(set) var bytes = 0
    private let redaction: Redaction
    /// The filter without declarations, and those of clients that declare secrets.
    private var filters: [FieldFilter]
    /// The declarations of all filters but the first.
    private var declared: [DeclaredSecrets] = []

    /// The maximum number of clients whose filters are kept.
    private static let maximumFilters = 8
    /// The maximum number of requests, decisions and interim responses that are kept for a call.
    static let maximumExchanges = 200
    static let maximumDecisions = 400
    static let maximumInterim = 20

    init(capacity: Int, memory: Int, redaction: Redaction) {
        ring = [Slot?](repeating: nil, count: capacity)
        self.memory = memory
        self.redaction = redaction
        filters = [FieldFilter(redaction)]
    }

    var records: [FlightRecorder.Record] {
        (0..<count).compactMap { ring[(first + $0) % ring.count]?.record }
    }

    mutating func removeAll() {
        while count > 0 { removeFirst() }
        unused = nil
    }

    // MARK: - Calls

    /// Stores the beginning of a call. Its headers are stored later, if the call sends no request.
    mutating func began(_ request: HTTPRequest, in context: ExchangeContext) {
        let slot = add(context)
        let index = filter(for: request.secrets.isEmpty ? context.secrets : request.secrets)
        slot.record.method = request.method
        slot.record.origin = request.origin
        slot.record.target = filters[index].target(of: request)
        grow(slot, by: request.target.utf8.count)
    }

    /// Stores the response of a call.
    mutating func succeeded(
        _ request: HTTPRequest, with response: HTTPResponse, after duration: Duration, in context: ExchangeContext
    ) {
        guard let slot = slot(of: context.id), slot.record.duration == nil else { return }
        slot.record.duration = duration
        slot.record.outcome = .response(response.status)
        let sources = response.facts.otherSources
        if !sources.isEmpty { slot.record.source = sources.joined(separator: ", ") }
        guard slot.record.exchanges.isEmpty else { return }
        let (sent, received) = (head(of: request, context), head(of: response, context))
        slot.record.request = sent
        slot.record.response = received
        grow(slot, by: sent.size + received.size)
    }

    /// Stores the failure of a call, and returns its record. Returns nil for a cancelled call, and if the failure is
    /// known. `request` is nil if none could be built.
    mutating func failed(
        _ request: HTTPRequest?, with error: NetworkError, after duration: Duration, in context: ExchangeContext
    ) -> FlightRecorder.Record? {
        let slot = add(context)
        guard slot.record.duration == nil else { return nil }
        let text = error.line(redaction)
        slot.record.duration = duration
        slot.record.outcome = .failed(text)
        var size = text.utf8.count
        if let last = slot.record.exchanges.indices.last {
            let isOfBody = slot.record.exchanges[last].response != nil && slot.record.exchanges[last].failure == nil
            if isOfBody, error.endsBody { slot.record.exchanges[last].failure = text }
        } else if let request {
            let head = head(of: request, context)
            slot.record.request = head
            size += head.size
        }
        let record = slot.record
        grow(slot, by: size)
        return error.isCancelled ? nil : record
    }

    // MARK: - Requests on the wire

    /// Stores a request, with what the recorder keeps of its bodies.
    mutating func sent(_ request: HTTPRequest, _ bodies: RecordedBodies?, in context: ExchangeContext) {
        let slot = add(context)
        guard slot.record.exchanges.count < Self.maximumExchanges else { return }
        let head = head(of: request, context)
        let size = head.size
        slot.record.exchanges.append(
            FlightRecorder.Exchange(
                number: context.requestNumber ?? 1, attempt: context.attempt, hop: context.hop,
                start: max(.zero, context.start.duration(to: context.time.now) - context.queued),
                request: consume head, bodies: bodies))
        grow(slot, by: size + 512)
    }

    mutating func received(_ response: HTTPResponse, in context: ExchangeContext) {
        guard let (slot, index) = exchange(of: context) else { return }
        let head = head(of: response, context)
        let size = head.size
        slot.record.exchanges[index].response = consume head
        grow(slot, by: size)
    }

    mutating func requestFailed(_ error: NetworkError, in context: ExchangeContext) {
        guard let (slot, index) = exchange(of: context) else { return }
        let text = error.line(redaction)
        slot.record.exchanges[index].failure = text
        var size = text.utf8.count
        // A body that broke off before its caller received the response.
        if slot.record.exchanges[index].response == nil, let received = error.response {
            let head = head(of: HTTPResponse(status: received.status, headers: received.headers), context)
            slot.record.exchanges[index].response = head
            size += head.size
        }
        grow(slot, by: size)
    }

    /// Stores the measurements of a request.
    mutating func measured(_ metrics: ExchangeMetrics, in context: ExchangeContext) {
        guard let (slot, index) = exchange(of: context) else { return }
        slot.record.exchanges[index].metrics = metrics
    }

    mutating func take(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .interim(let status, let headers):
            guard let (slot, index) = exchange(of: context),
                slot.record.exchanges[index].interim.count < Self.maximumInterim
            else { return }
            let (headers, size) = redacted(headers, context)
            slot.record.exchanges[index].interim.append(
                FlightRecorder.Interim(
                    time: context.start.duration(to: context.time.now), status: status, headers: headers))
            grow(slot, by: size)
        case .trailers(let headers):
            guard let (slot, index) = exchange(of: context) else { return }
            let (headers, size) = redacted(headers, context)
            slot.record.exchanges[index].trailers = headers
            grow(slot, by: size)
        case .tried(let attempt):
            note("attempt", "attempt \(redaction.text("\(attempt)"))", context)
        case .joined(let other):
            note("joined", "receives the response to the equal request of call \(other)", context)
        case .feature(let feature):
            note(feature.name, feature.description, context)
        case .warned(let warning):
            note("warning", warning.description, context)
        default: break
        }
    }

    /// Counts bytes that a record holds outside of this store.
    mutating func grow(call: UInt64, by size: Int) {
        if let slot = slot(of: call) { grow(slot, by: size) }
    }

    // MARK: - Slots

    /// Returns the slot of the call of a context. Adds one if there is none.
    private mutating func add(_ context: ExchangeContext) -> Slot {
        if let slot = slot(of: context.id) { return slot }
        if count == ring.count { removeFirst() }
        let index = (first + count) % ring.count
        let slot = unusedSlot(context)
        count += 1
        ring[index] = slot
        positions[context.id] = index
        latest = slot
        bytes += slot.record.bytes
        return slot
    }

    /// Returns the slot that was removed last, if there is one, because a full ring then allocates nothing.
    private mutating func unusedSlot(_ context: ExchangeContext) -> Slot {
        guard let slot = unused else { return Slot(FlightRecorder.Record(context)) }
        unused = nil
        var exchanges: [FlightRecorder.Exchange] = []
        swap(&exchanges, &slot.record.exchanges)
        exchanges.removeAll(keepingCapacity: exchanges.capacity <= 4)
        slot.record = FlightRecorder.Record(context, exchanges: exchanges)
        return slot
    }

    private mutating func slot(of call: UInt64) -> Slot? {
        if let latest, latest.call == call { return latest }
        guard let index = positions[call] else { return nil }
        latest = ring[index]
        return latest
    }

    /// Returns the slot of a call, and the index of the exchange to which an event belongs.
    private mutating func exchange(of context: ExchangeContext) -> (Slot, Int)? {
        guard let number = context.requestNumber, let slot = slot(of: context.id) else { return nil }
        // Most events belong to the latest request.
        guard let index = slot.record.exchanges.lastIndex(where: { $0.number == number }) else { return nil }
        return (slot, index)
    }

    private mutating func removeFirst() {
        if let slot = ring[first] {
            bytes -= slot.record.bytes
            positions[slot.call] = nil
            if latest === slot { latest = nil }
            unused = slot
        }
        ring[first] = nil
        first = (first + 1) % ring.count
        count -= 1
    }

    private mutating func grow(_ slot: Slot, by size: Int) {
        slot.record.bytes += size
        bytes += size
        guard bytes > memory else { return }
        while bytes > memory, count > 0 { removeFirst() }
        unused = nil
    }

    private mutating func note(_ name: String, _ text: String, _ context: ExchangeContext) {
        guard let slot = slot(of: context.id), slot.record.decisions.count < Self.maximumDecisions else { return }
        let text = text.clipped(to: 500).joinedLines.printable
        slot.record.decisions.append(
            FlightRecorder.Decision(
                time: context.start.duration(to: context.time.now), name: name, text: text,
                position: slot.record.exchanges.count))
        grow(slot, by: text.utf8.count + 64)
    }

    // MARK: - Redaction

    /// Returns the index of the filter for a client with these secrets. Index 0 has the filter without declarations.
    private mutating func filter(for secrets: DeclaredSecrets) -> Int {
        if secrets.isEmpty { return 0 }
        if let index = declared.firstIndex(where: { $0.isIdentical(to: secrets) }) { return index + 1 }
        // Derived clients have equal declarations of their own, and are often created for one call.
        if let index = declared.firstIndex(where: { $0.rules == secrets.rules }) {
            declared[index] = secrets
            return index + 1
        }
        if declared.count == Self.maximumFilters {
            declared.removeFirst()
            filters.remove(at: 1)
        }
        declared.append(secrets)
        filters.append(FieldFilter(secrets.added(to: redaction)))
        return declared.count
    }

    private mutating func redacted(
        _ headers: HTTPHeaders, _ context: ExchangeContext
    ) -> (headers: HTTPHeaders, size: Int) {
        filters[filter(for: context.secrets)].headers(headers)
    }

    private mutating func head(of request: HTTPRequest, _ context: ExchangeContext) -> FlightRecorder.RequestHead {
        let index = filter(for: request.secrets.isEmpty ? context.secrets : request.secrets)
        let (headers, size) = filters[index].headers(request.headers)
        return FlightRecorder.RequestHead(
            method: request.method, origin: request.origin, target: filters[index].target(of: request),
            headers: headers, size: size + request.target.utf8.count, bodyLength: request.body.length,
            hasBody: !request.body.isEmpty)
    }

    private mutating func head(
        of response: HTTPResponse, _ context: ExchangeContext
    ) -> FlightRecorder.ResponseHead {
        let index = filter(for: context.secrets)
        let (headers, size) = filters[index].headers(response.headers)
        return FlightRecorder.ResponseHead(
            status: response.status, reason: filters[index].reasonPhrase(of: response), headers: headers, size: size,
            version: response.version, length: response.body.declaredLength)
    }
}

extension NetworkError {
    /// Whether the error is one of a response whose body broke off.
    fileprivate var endsBody: Bool {
        switch reason {
        case .connectionLost, .timedOut(.idle): true
        default: false
        }
    }
}
