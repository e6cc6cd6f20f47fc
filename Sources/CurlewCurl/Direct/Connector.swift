// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// The attempt to open a connection for a transfer: it looks up the name, and tries the addresses until one accepts
/// (RFC 8305). The families of the addresses alternate, and the next address is tried when one has failed, or after
/// `TransportConfiguration.DNS.happyEyeballsDelay`. Used only on the event loop's thread.
final class Connector {
    private enum Phase {
        case new
        case resolving(since: Int64)
        case connecting
        case over
    }

    private struct Attempt {
        let descriptor: Int32
        let address: IPAddress?
    }

    let transfer: Transfer
    private unowned let owner: DirectConnections
    private let host: String
    private let port: Int
    private var phase = Phase.new
    private var remaining: ArraySlice<IPAddress> = []
    private var attempts: [Attempt] = []
    private var lookupTook: Int64 = 0
    private var connectingSince: Int64 = 0
    /// The time at which the next address is tried although none has failed.
    private var nextAttempt = Int64.max
    /// The error of the last address that failed.
    private var lastError: Int32 = 0
    private var lacksDescriptor = false
    private var configuration: TransportConfiguration { owner.loop.configuration }

    /// How many of the addresses of a name are tried.
    private static let addressLimit = 32

    init(_ transfer: Transfer, _ owner: DirectConnections) {
        (self.transfer, self.owner) = (transfer, owner)
        (host, port) = owner.loop.configuration.dns.target(of: transfer.plan.request.origin)
    }

    /// Returns the duration of the name lookup in nanoseconds; until `now` if it has not ended.
    func lookupTime(at now: Int64) -> Int64 {
        if case .resolving(let since) = phase { return now - since }
        return lookupTook
    }

    /// Returns the duration of connecting in nanoseconds, until `now`.
    func connectTime(at now: Int64) -> Int64 {
        if case .connecting = phase { return now - connectingSince }
        return 0
    }

    func begin(at now: Int64) {
        if configuration.unixSocket != nil { return connect(to: [], at: now) }
        if let address = IPAddress(host) { return connect(to: [address], at: now) }
        if host == "localhost" { return connect(to: ["127.0.0.1", "::1"].compactMap { IPAddress($0) }, at: now) }
        // The DNS is not queried for these names: it could return another machine (RFC 6761 §6.3).
        if let known = Origin(scheme: "http", host: host, port: 80)?.loopbackAddresses {
            return connect(to: NameLookup.addresses(known), at: now)
        }
        if let known = owner.addresses[host], now < known.until { return connect(to: known.list, at: now) }
        phase = .resolving(since: now)
        transfer.plan.context.record(.connecting(.resolving(name: host)))
        owner.resolve(host)
    }

    /// Whether the attempt waits for the addresses of this name.
    func waits(for name: String) -> Bool {
        if case .resolving = phase { return name == host }
        return false
    }

    /// Continues with the result of the lookup.
    func found(_ outcome: NameLookup.Outcome, at now: Int64) {
        lookupTook = lookupTime(at: now)
        switch outcome {
        case .addresses(let text): connect(to: NameLookup.addresses(text), at: now)
        case .unwritable: owner.passToCurl(self)
        case .failed(let reason): fail(transfer.unresolved(host, reason))
        }
    }

    private func connect(to addresses: [IPAddress], at now: Int64) {
        phase = .connecting
        connectingSince = now
        remaining = Self.alternating(addresses.filter(isUsable)).prefix(Self.addressLimit)
        if configuration.unixSocket != nil { return tryPath() }
        tryNext(at: now)
    }

    /// Whether the configuration allows the family of an address, and the local address has the same family.
    private func isUsable(_ address: IPAddress) -> Bool {
        if case .address(let text) = configuration.localAddress, let local = IPAddress(text),
            local.isIPv4 != address.isIPv4
        {
            return false
        }
        return switch configuration.dns.addresses {
        case .any: true
        case .ipv4: address.isIPv4
        case .ipv6: !address.isIPv4
        }
    }

    /// Returns the addresses with alternating families, beginning with the family of the first one.
    private static func alternating(_ addresses: [IPAddress]) -> [IPAddress] {
        let first = addresses.filter { $0.isIPv4 == addresses[0].isIPv4 }
        let second = addresses.filter { $0.isIPv4 != addresses[0].isIPv4 }
        return (0..<max(first.count, second.count)).flatMap { index in
            [first, second].compactMap { $0.indices.contains(index) ? $0[index] : nil }
        }
    }

    /// Tries the next address that the policy allows. Fails if there is none and no other attempt is in progress.
    private func tryNext(at now: Int64) {
        while let address = remaining.popFirst() {
            guard transfer.mayConnect(to: address) else { continue }
            if open(address) {
                nextAttempt =
                    remaining.isEmpty
                    ? .max : TimeoutTracker.moment(after: max(.milliseconds(1), configuration.dns.happyEyeballsDelay))
                owner.bringCheckForward(to: nextAttempt)
                return
            }
            if case .over = phase { return }
        }
        nextAttempt = .max
        if attempts.isEmpty { failToConnect() }
    }

    /// Begins to connect to an address. Returns false if that has failed already.
    private func open(_ address: IPAddress) -> Bool {
        noteTrying(ExchangeMetrics.Connection.addressText("\(address)", port))
        let family = address.isIPv4 ? CURLEW_IPV4 : CURLEW_IPV6
        let descriptor = curlew_open_socket(family, keepAlive)
        guard descriptor >= 0 else { return note(-descriptor) }
        if let error = bind(descriptor, family) {
            close(descriptor)
            fail(error)
            return false
        }
        let code = curlew_connect_address(descriptor, address.bytes, address.bytes.count, Int32(port))
        return add(Attempt(descriptor: descriptor, address: address), -code)
    }

    private func noteTrying(_ address: @autoclosure () -> String) {
        guard transfer.plan.context.observesConnections else { return }
        transfer.connection.tries()
        transfer.plan.context.record(.connecting(.trying(address: address())))
    }

    private func tryPath() {
        let path = configuration.unixSocket ?? ""
        noteTrying(path)
        let descriptor = curlew_open_socket(CURLEW_UNIX, 0)
        guard descriptor >= 0 else {
            _ = note(-descriptor)
            return failToConnect()
        }
        let code = curlew_connect_path(descriptor, path)
        if !add(Attempt(descriptor: descriptor, address: nil), -code), case .connecting = phase { failToConnect() }
    }

    private var keepAlive: Int32 {
        guard let time = configuration.pool.keepAlive else { return 0 }
        // The system accepts at most 32,767 s.
        return Int32(min(max(1, (time.roundedUpMilliseconds + 999) / 1000), 32_767))
    }

    private func bind(_ descriptor: Int32, _ family: curlew_family) -> NetworkError? {
        let code: Int32
        switch configuration.localAddress {
        case nil: return nil
        case .address(let text):
            guard let local = IPAddress(text) else { return nil }
            code = curlew_bind_address(descriptor, local.bytes, local.bytes.count)
        case .interface(let name): code = curlew_bind_interface(descriptor, name, family)
        }
        return code == 0 ? nil : transfer.unbound(-code)
    }

    /// Notes a connection attempt with its first result. Returns false if it has failed.
    private func add(_ attempt: Attempt, _ error: Int32) -> Bool {
        guard error == 0 || error == EINPROGRESS, owner.add(self, attempt.descriptor) else {
            close(attempt.descriptor)
            return note(error == 0 || error == EINPROGRESS ? ENOMEM : error)
        }
        attempts.append(attempt)
        transfer.direct.connectionsOpened += 1
        owner.loop.gauges.connectionsOpened += 1
        if error == 0 { succeed(attempt) }
        return true
    }

    private func note(_ error: Int32) -> Bool {
        lastError = error
        if error == EMFILE || error == ENFILE { lacksDescriptor = true }
        return false
    }

    /// Called when the socket of an attempt is connected or has failed.
    func socketIsReady(_ descriptor: Int32) {
        guard let index = attempts.firstIndex(where: { $0.descriptor == descriptor }) else { return }
        let error = -curlew_connect_result(descriptor)
        if error == 0 { return succeed(attempts[index]) }
        end(attempts.remove(at: index))
        _ = note(error)
        tryNext(at: owner.loop.now)
    }

    /// Tries the next address if none has been connected for the delay.
    func tryLate(at now: Int64) {
        if now >= nextAttempt { tryNext(at: now) } else { owner.bringCheckForward(to: nextAttempt) }
    }

    private func succeed(_ attempt: Attempt) {
        let now = TimeoutTracker.now()
        transfer.direct.lookupTime += lookupTook
        transfer.direct.connectTime += now - connectingSince
        attempts.removeAll { $0.descriptor == attempt.descriptor }
        cancel()
        guard let queue = transfer.queue, case .active(let index) = transfer.phase else { return }
        let connection = DirectConnection(
            attempt.descriptor, owner: owner, queue: queue, index: index,
            remoteAddress: attempt.address.map { ExchangeMetrics.Connection.addressText("\($0)", port) },
            localAddress: attempt.address == nil ? nil : Self.localAddress(of: attempt.descriptor), at: now)
        guard owner.adopt(connection) else { return fail(transfer.completed(EventLoop.noDescriptor)) }
        owner.start(transfer, on: connection)
    }

    private static func localAddress(of descriptor: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            guard let start = text.baseAddress else { return nil }
            let port = curlew_local_address(descriptor, start, text.count)
            return ExchangeMetrics.Connection.addressText(String(cString: start), Int(port))
        }
    }

    private func failToConnect() {
        if lacksDescriptor {
            cancel()
            if owner.awaitDescriptor(transfer) { return }
            return owner.end(transfer, with: transfer.completed(EventLoop.noDescriptor))
        }
        fail(transfer.unreachable(host, port, lastError))
    }

    private func fail(_ error: NetworkError) {
        owner.end(transfer, with: error)
    }

    /// Ends all attempts.
    func cancel() {
        attempts.forEach(end)
        attempts = []
        phase = .over
        transfer.direct.connector = nil
        owner.connectors.removeAll { $0 === self }
    }

    private func end(_ attempt: Attempt) {
        owner.remove(attempt.descriptor)
        close(attempt.descriptor)
    }
}

extension DirectConnections {
    /// Looks up a name once for all attempts that wait for it.
    func resolve(_ name: String) {
        guard connectors.count(where: { $0.waits(for: name) }) == 1 else { return }
        loop.names.resolve(name) { [weak loop] outcome in loop?.send(.found(name, outcome)) }
    }

    /// Continues the attempts that wait for this name.
    func found(_ name: String, _ outcome: NameLookup.Outcome) {
        let now = TimeoutTracker.now()
        if case .addresses(let text) = outcome { remember(NameLookup.addresses(text), of: name, at: now) }
        for connector in connectors where connector.waits(for: name) { connector.found(outcome, at: now) }
    }

    private func remember(_ list: [IPAddress], of name: String, at now: Int64) {
        let seconds = max(0, (loop.configuration.dns.cacheLifetime.roundedUpMilliseconds + 999) / 1000)
        guard seconds > 0 else { return }
        if addresses.count >= 1024 { addresses = addresses.filter { now < $0.value.until } }
        if addresses.count >= 1024 { addresses = [:] }
        addresses[name] = (list, now + min(seconds, 1 << 30) * 1_000_000_000)
    }

    /// Lets libcurl perform a transfer whose addresses only the system can write.
    func passToCurl(_ connector: Connector) {
        let transfer = connector.transfer
        connector.cancel()
        transfer.carrier = nil
        inProgress.subtract(1, ordering: .releasing)
        loop.beginWithCurl(transfer)
    }
}
#endif
