// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The exchanges of one agent with one origin, and what it knows about it. On the agent's thread only.
final class OriginLine {
    let origin: Origin
    /// Those who wait, also for other agents.
    let shared: SharedLine
    /// Its connections carry many exchanges at a time.
    var sharesConnections: Bool
    /// What its latest answer looked like.
    var knownHead: KnownHead?
    /// How many exchanges may be under way at a time.
    var places: Int { didSet { noteFree() } }
    private(set) var running = 0 { didSet { noteFree() } }
    private var isFree = true
    private unowned let agent: CurlAgent
    /// Which it has spoken over TLS.
    private var versions: (one: Bool, two: Bool) = (false, false)
    /// It has spoken both HTTP/1.1 and HTTP/2 over TLS, and this libcurl would mix them up: HTTP/1.1 from now on.
    var isMixed: Bool { versions.one && versions.two && CurlLibrary.current.mixesVersions }

    init(origin: Origin, configuration: TransportConfiguration, agent: CurlAgent) {
        self.origin = origin
        self.agent = agent
        shared = agent.lines.line(for: origin)
        sharesConnections = configuration.httpVersions == .http2PriorKnowledge && configuration.canShare
        places = configuration.places(sharing: sharesConnections)
    }

    /// Whether somebody waits and there is a place.
    var isDue: Bool { running < places && shared.count > 0 }

    /// Takes a slot, if there is one and no call waits for it.
    func enter() -> Bool {
        guard running < places, shared.count == 0 else { return false }
        running += 1
        return true
    }

    /// Somebody's turn, who takes a place with it; nil when there is no place or nobody waits.
    func next() -> Transfer? {
        guard running < places, let transfer = shared.next(for: agent) else { return nil }
        running += 1
        return transfer
    }

    /// Gives a place back.
    func finish() {
        running -= 1
    }

    private func noteFree() {
        guard isFree != (running < places) else { return }
        isFree.toggle()
        shared.note(isFree: isFree, at: agent)
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
    /// Begins a transfer, or lets it wait for its turn.
    func admit(_ transfer: Transfer) {
        guard !isStopping else { return refuse(transfer, Self.shutdownError) }
        let place = originLine(of: transfer.request.origin)
        if place.enter() {
            transfer.place = place
            return begin(transfer)
        }
        transfer.line = place.shared
        noteDeadline(of: transfer)
        guard place.shared.wait(transfer, at: place.origin, agent: self) else {
            transfer.line = nil
            return refuse(
                transfer,
                NetworkError(
                    .refused(by: .overload),
                    detail: "\(place.shared.count) exchanges wait for \(place.origin) already.",
                    hint: "Start fewer calls at a time, or raise ConnectionPool.waitingPerHost.",
                    request: RequestLine(transfer.request)))
        }
        look(at: place)
    }

    /// Somebody may wait for a place that is free.
    func look(at place: OriginLine) {
        if place.isDue { dueLines.append(place) }
    }

    /// Tells the caller of a transfer that waited until now.
    func endWaiting(_ transfer: Transfer, with error: NetworkError) {
        transfer.line = nil
        var metrics = ExchangeMetrics()
        metrics.queue = transfer.clock.elapsed(at: ExchangeClock.now())
        metrics.total = metrics.queue
        transfer.context.record(.measured(metrics))
        refuse(transfer, error)
    }

    /// True for a transfer that is this agent's and has begun. One that waits is ended; one that another agent has begun
    /// is left to it, who is told of a cancellation.
    func mayEnd(_ transfer: Transfer, with error: NetworkError) -> Bool {
        guard let line = transfer.line else { return true }
        switch line.leave(transfer) {
        case .left:
            endWaiting(transfer, with: error)
            return false
        case .begun(let agent):
            if agent === self { return true }
            if error.isCancelled { agent.cancel(transfer) }
            return false
        }
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
        place.finish()
        look(at: place)
    }

    /// The head tells what the origin speaks.
    func noteVersion(_ version: HTTPVersion, of transfer: Transfer) {
        if version == .http2, let socket = transfer.socket { pump?.noteShared(socket, at: turnStart) }
        guard let place = transfer.place else { return }
        place.noteVersion(version, isSecure: transfer.request.origin.isSecure)
        guard place.sharesConnections != (version == .http2), configuration.canShare else { return }
        place.sharesConnections.toggle()
        place.places = configuration.places(sharing: place.sharesConnections)
        look(at: place)
    }

    /// Gives free places to those who wait.
    func fillPlaces() {
        // Whoever fails to begin makes room for another one: the list grows while it is worked through.
        while let place = dueLines.popLast() {
            while let transfer = place.next() {
                transfer.place = place
                // The watchdog of its former agent may have ended it.
                if transfer.hasOutcome {
                    leavePlace(transfer)
                    refuse(transfer, NetworkError(.timedOut(.engine)))
                } else {
                    begin(transfer)
                }
            }
        }
    }

    /// Those who came to this agent and wait, at all origins.
    var waitingTransfers: [Transfer] {
        lines.count == 0 ? [] : originLines.values.flatMap { $0.shared.transfers(of: self) }
    }

    /// Most requests go where the one before went, which spares hashing the origin.
    func originLine(of origin: Origin) -> OriginLine {
        if let lastLine, lastLine.origin == origin { return lastLine }
        if let known = originLines[origin] {
            lastLine = known
            return known
        }
        if originLines.count >= Self.originLimit {
            originLines = originLines.filter { $0.value.running > 0 || $0.value.shared.count > 0 }
            lastLine = nil
        }
        var configuration = configuration
        configuration.pool = pool(for: origin)
        let new = OriginLine(origin: origin, configuration: configuration, agent: self)
        originLines[origin] = new
        lastLine = new
        return new
    }
}
#endif
