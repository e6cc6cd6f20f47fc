// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The exchanges with one origin, and what is known about it. On the agent's thread only.
final class OriginLine {
    let origin: Origin
    var line: WaitingLine<Transfer>
    /// Its connections carry many exchanges at a time.
    var sharesConnections: Bool
    /// What its latest answer looked like.
    var knownHead: KnownHead?
    /// Which it has spoken over TLS.
    private var versions: (one: Bool, two: Bool) = (false, false)
    /// It has spoken both HTTP/1.1 and HTTP/2 over TLS, and this libcurl would mix them up: HTTP/1.1 from now on.
    var isMixed: Bool { versions.one && versions.two && CurlLibrary.current.mixesVersions }

    init(origin: Origin, configuration: TransportConfiguration) {
        self.origin = origin
        sharesConnections = configuration.httpVersions == .http2PriorKnowledge && configuration.canShare
        line = WaitingLine(
            places: configuration.places(sharing: sharesConnections), capacity: configuration.pool.waitingPerHost)
    }

    /// Several exchanges met on a connection that speaks HTTP/1.1.
    func noteMix() {
        versions = (true, true)
    }

    func noteVersion(_ version: HTTPVersion, isSecure: Bool) {
        guard isSecure else { return }
        if version == .http2 { versions.two = true } else { versions.one = true }
    }
}

extension TransportConfiguration {
    /// False where each exchange gets a connection of its own although it speaks HTTP/2.
    fileprivate var canShare: Bool {
        !(httpVersions == .http2PriorKnowledge && CurlLibrary.current.cannotReusePriorKnowledge)
    }

    /// Over HTTP/1.1 an exchange has a connection to itself. Over HTTP/2 the servers' usual 100 share one; libcurl, which
    /// knows what the server allows, holds back what is more.
    fileprivate func places(sharing: Bool) -> Int {
        sharing ? min(pool.perHost, .max / 100) * 100 : pool.perHost
    }
}

/// Who begins when. libcurl has a list of its own for what exceeds its limits, but walks it whole at each end of a
/// transfer, knows no priority, and several of its versions forgot entries; so it is never given more than it can take.
extension CurlAgent {
    static let waitingHint =
        "It waited for a place at its host all the time. Start fewer calls at a time, give urgent ones a higher "
        + "RequestOptions.priority, or raise ConnectionPool.perHost."

    /// Begins a transfer, or lets it wait for its turn.
    func admit(_ transfer: Transfer) {
        let place = originLine(of: transfer.request.origin)
        transfer.place = place
        if place.line.enter() { return begin(transfer) }
        guard let ticket = place.line.wait(transfer, transfer.context.options.priority ?? .normal) else {
            transfer.place = nil
            refuse(
                transfer,
                NetworkError(
                    .refused(by: .overload),
                    detail: "\(place.line.count) exchanges wait for \(place.origin) already.",
                    hint: "Start fewer calls at a time, or raise ConnectionPool.waitingPerHost.",
                    request: RequestLine(transfer.request)))
            return
        }
        transfer.ticket = ticket
        gauges.waiting += 1
        noteDeadline(of: transfer)
    }

    /// Ends a transfer that still waits. False if it does not.
    func endWaiting(_ transfer: Transfer, with error: NetworkError) -> Bool {
        guard let ticket = transfer.ticket else { return false }
        transfer.ticket = nil
        transfer.place?.line.leave(ticket)
        transfer.place = nil
        gauges.waiting -= 1
        refuse(transfer, error)
        var metrics = ExchangeMetrics()
        metrics.queue = transfer.clock.elapsed(at: ExchangeClock.now())
        metrics.total = metrics.queue
        transfer.context.record(.measured(metrics))
        return true
    }

    /// Tells the caller that its transfer does not begin.
    func refuse(_ transfer: Transfer, _ error: NetworkError) {
        transfer.upload?.end()
        ended.append(transfer)
        transfer.deliver(.failure(error))
    }

    /// A transfer that had a place is over.
    func leavePlace(_ transfer: Transfer) {
        guard let place = transfer.place else { return }
        transfer.place = nil
        place.line.finish()
        if place.line.isDue { dueLines.append(place) }
    }

    /// The head tells what the origin speaks.
    func noteVersion(_ version: HTTPVersion, of transfer: Transfer) {
        guard let place = transfer.place else { return }
        place.noteVersion(version, isSecure: transfer.request.origin.isSecure)
        guard place.sharesConnections != (version == .http2), configuration.canShare else { return }
        place.sharesConnections.toggle()
        place.line.places = configuration.places(sharing: place.sharesConnections)
        if place.line.isDue { dueLines.append(place) }
    }

    /// Gives free places to those who wait.
    func fillPlaces() {
        // Whoever fails to begin makes room for another one: the list grows while it is worked through.
        while let place = dueLines.popLast() {
            while let transfer = place.line.next() {
                transfer.ticket = nil
                gauges.waiting -= 1
                begin(transfer)
            }
        }
    }

    /// Those who wait at all origins.
    var waitingTransfers: [Transfer] {
        gauges.waiting == 0 ? [] : originLines.values.flatMap { Array($0.line.elements) }
    }

    /// Most requests go where the one before went, which spares hashing the origin.
    private func originLine(of origin: Origin) -> OriginLine {
        if let lastLine, lastLine.origin == origin { return lastLine }
        if let known = originLines[origin] {
            lastLine = known
            return known
        }
        if originLines.count >= Self.originLimit {
            originLines = originLines.filter { $0.value.line.running > 0 || $0.value.line.count > 0 }
            lastLine = nil
        }
        var configuration = configuration
        configuration.pool = pool(for: origin)
        let new = OriginLine(origin: origin, configuration: configuration)
        originLines[origin] = new
        lastLine = new
        return new
    }
}
#endif
