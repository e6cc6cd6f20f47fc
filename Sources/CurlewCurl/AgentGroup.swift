// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The agents of one transport. An origin belongs to one of them, so that its connections are never split.
struct AgentGroup: Sendable {
    private let agents: [CurlAgent]
    private let home = HomeProcess()

    init(configuration: TransportConfiguration, proxies: ProxyRules) {
        var part = configuration
        if configuration.agents > 1 {
            part.pool.idle = max(1, configuration.pool.idle / configuration.agents)
            part.pool.total = configuration.pool.total.map { max(1, $0 / configuration.agents) }
        }
        agents = (0..<configuration.agents).map { [part] _ in CurlAgent(configuration: part, proxies: proxies) }
    }

    /// False in a forked child.
    var isHere: Bool { home.isHere }

    subscript(origin: Origin) -> CurlAgent {
        // Hashing would cost something for nothing.
        agents.count == 1 ? agents[0] : agents[Int(UInt(bitPattern: origin.hashValue) % UInt(agents.count))]
    }

    /// The numbers of all agents, each at a moment of its own.
    var snapshot: TransportSnapshot {
        agents.reduce(TransportSnapshot()) { $0 + $1.snapshot }
    }

    /// Stops all of them; `ending` is called when the last one has ended.
    func stop(by moment: Int64 = 0, _ ending: (@Sendable () -> Void)? = nil) {
        let left = Locked(agents.count)
        for agent in agents {
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
#endif
