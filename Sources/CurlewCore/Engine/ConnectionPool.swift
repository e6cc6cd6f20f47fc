// SPDX-License-Identifier: MIT

/// How many connections a transport has, how long it keeps them, and how it shares them.
///
/// Times are counted in whole seconds, rounded up.
public struct ConnectionPool: Hashable, Sendable {
    /// Connections to one host at a time; further exchanges wait, inside their deadline: first come, first served within
    /// `RequestOptions.priority`. Where HTTP/2 shares connections, 100 exchanges count as one. Default 64.
    public var perHost: Int
    /// Exchanges that may wait for a place at one host; more are refused with `.refused(by: .overload)`. Default 10,000.
    public var waitingPerHost: Int
    /// Connections to all hosts at a time; further requests wait likewise. Default nil: as many as `perHost` lets be.
    public var total: Int?
    /// Idle connections kept for later use. Default 256.
    public var idle: Int
    /// A connection that has been idle for longer is not used again. Default 60 s, at least 1 s.
    public var idleLifetime: Duration
    /// A connection older than this is not used again, so that changed addresses are noticed. Default nil: no limit.
    public var lifetime: Duration?
    /// While a connection to a server is being made that may turn out to speak HTTP/2, further requests wait for it
    /// instead of opening connections of their own. Default true.
    public var waitsForMultiplexing: Bool
    /// After which silence the system asks whether the peer is still there, and how long between questions; at least
    /// 1 s. Nil leaves that out. Default 60 s.
    public var keepAlive: Duration?

    /// A pool with the defaults where nothing is said.
    public init(
        perHost: Int = 64, waitingPerHost: Int = 10_000, total: Int? = nil, idle: Int = 256,
        idleLifetime: Duration = .seconds(60), lifetime: Duration? = nil, waitsForMultiplexing: Bool = true,
        keepAlive: Duration? = .seconds(60)
    ) {
        self.perHost = perHost
        self.waitingPerHost = waitingPerHost
        self.total = total
        self.idle = idle
        self.idleLifetime = idleLifetime
        self.lifetime = lifetime
        self.waitsForMultiplexing = waitsForMultiplexing
        self.keepAlive = keepAlive
    }

    var problems: [String] {
        var problems: [String] = []
        if perHost < 1 { problems.append("ConnectionPool.perHost is \(perHost): at least 1 is needed.") }
        if waitingPerHost < 0 {
            problems.append("ConnectionPool.waitingPerHost is \(waitingPerHost): it cannot be negative.")
        }
        if let total, total < 1 { problems.append("ConnectionPool.total is \(total): at least 1 is needed.") }
        if idle < 1 { problems.append("ConnectionPool.idle is \(idle): at least 1 is needed.") }
        return problems
    }
}
