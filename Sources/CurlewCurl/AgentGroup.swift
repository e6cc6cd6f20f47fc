// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The agents of one transport.
///
/// An origin belongs to one of them, so that its connections are shared. Over plain HTTP/1.1 nothing is shared at a time:
/// there the others help when its agent has a lot in hand, and elsewhere as many as the configuration allows. Each of
/// them then has a part of the places at the host; those who wait stand in one line for all of them.
struct AgentGroup: Sendable {
    private let agents: [CurlAgent]
    /// Speaks HTTP/1.1 only, for uploads that must not meet others on an HTTP/2 connection, nor have one of HTTP/1.1 among
    /// these: see `CurlLibrary.losesBytesBesideUploads` and `mixesVersions`. It has a pool of its own.
    private let apart: CurlAgent?
    /// For answers that go to files, with a pool of its own: its thread writes them itself, and a slow disk holds up no
    /// other call.
    private let files: CurlAgent
    /// How many serve one origin: there is at least one place at a host for each.
    private let plain, shared: Int
    private let isAlwaysShared: Bool
    private let home = HomeProcess()

    /// With so many exchanges in hand an agent is helped; with fewer, another thread would cost more than it brings. With
    /// more where a connection costs a handshake and may be shared.
    private static let (plenty, plentyShared) = (16, 32)

    init(configuration: TransportConfiguration, proxies: ProxyRules) {
        let count = configuration.usefulAgents
        var part = configuration
        if count > 1 {
            part.pool.idle = max(1, configuration.pool.idle / count)
            part.pool.total = configuration.pool.total.map { max(1, $0 / count) }
        }
        let most = min(count, max(1, configuration.pool.perHost))
        let shared = min(most, configuration.agentsPerSecureOrigin)
        isAlwaysShared = configuration.httpVersions == .http2PriorKnowledge
        let plain = isAlwaysShared ? shared : most
        (self.plain, self.shared) = (plain, shared)
        let lines = SharedLines(capacity: configuration.pool.waitingPerHost) { origin in
            let helpers = origin.isSecure ? shared : plain
            return helpers > 1 ? .max >> (64 - UInt64(helpers)) : 0
        }
        agents = (0..<count).map { [part] number in
            CurlAgent(
                configuration: part, proxies: proxies, lines: lines, number: number,
                plainPool: configuration.pool.share(number, of: plain),
                securePool: configuration.pool.share(number, of: shared))
        }
        lines.open(for: agents)
        files = CurlAgent(
            configuration: configuration, proxies: proxies,
            lines: SharedLines(capacity: configuration.pool.waitingPerHost), mayBlock: true)
        // Which libcurl there is shows with the first use: making a transport does not start it.
        if configuration.httpVersions == .automatic {
            var serial = configuration
            serial.httpVersions = .http1Only
            apart = CurlAgent(
                configuration: serial, proxies: proxies, lines: SharedLines(capacity: serial.pool.waitingPerHost))
        } else {
            apart = nil
        }
    }

    private var own: [CurlAgent] { [files] + (apart.map { [$0] } ?? []) }
    private var all: [CurlAgent] { agents + own }

    /// False in a forked child.
    var isHere: Bool { home.isHere }

    /// Who gets an exchange with `origin`.
    func agent(for origin: Origin, _ upload: (any Upload)?, savesBody: Bool = false) -> CurlAgent {
        if let apart, let upload, upload.length == nil, origin.isSecure, CurlLibrary.current.losesBytesBesideUploads {
            return apart
        }
        if savesBody { return files }
        // Hashing would cost something for nothing.
        if agents.count == 1 { return agents[0] }
        let hash = UInt(bitPattern: origin.hashValue)
        let helpers = origin.isSecure ? shared : plain
        guard helpers > 1 else { return agents[Int(hash % UInt(agents.count))] }
        var chosen = agents[Int(hash % UInt(helpers))]
        var least = chosen.queue.load
        let plenty = origin.isSecure || isAlwaysShared ? Self.plentyShared : Self.plenty
        if least < min(plenty, chosen.pool(for: origin).perHost) { return chosen }
        for agent in agents.prefix(helpers) {
            let load = agent.queue.load
            if load < least { (chosen, least) = (agent, load) }
        }
        return chosen
    }

    /// The numbers of all agents, each at a moment of its own; none in a forked child.
    var snapshot: TransportSnapshot {
        guard isHere else { return TransportSnapshot() }
        var sum = all.reduce(TransportSnapshot()) { $0 + $1.snapshot }
        // Those who wait belong to all agents, but for those with lines of their own.
        sum.waiting = own.reduce(agents.first?.lines.count ?? 0) { $0 + $1.lines.count }
        return sum
    }

    /// Stops all of them; `ending` is called when the last one has ended.
    func stop(by moment: Int64 = 0, _ ending: (@Sendable () -> Void)? = nil) {
        let all = all
        let left = Locked(all.count)
        for agent in all {
            agent.stop(by: moment) {
                let isLast = left.withLock { count in
                    count -= 1
                    return count == 0
                }
                if isLast { ending?() }
            }
        }
    }
}

extension TransportConfiguration {
    /// A limit for all connections cannot be divided into parts that are hardly any.
    fileprivate var usefulAgents: Int {
        pool.total.map { max(1, min(agents, $0 / 16)) } ?? agents
    }
}

extension ConnectionPool {
    /// The pool of one of several agents at a host that they serve together: with as many places as there are. The whole
    /// for one that serves hosts alone.
    fileprivate func share(_ number: Int, of count: Int) -> ConnectionPool {
        guard count > 1, number < count else { return self }
        func part(_ whole: Int) -> Int { whole / count + (number < whole % count ? 1 : 0) }
        var share = self
        share.perHost = part(perHost)
        return share
    }
}
#endif
