// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The state of one iteration: its connection, and the wait for the next one.
struct EventReader {
    private let core: EventStreamCore
    private var lease: Lease?
    private var hasEnded = false
    private(set) var connection: EventConnection?
    /// Whether the connection has delivered an event, or anything after a while. Comments alone could turn the loop of
    /// connections without a backoff.
    private var isWorking = false
    private var parser = EventStreamParser()
    private var reconnection: ReconnectionDelay

    init(_ core: EventStreamCore) {
        self.core = core
        let options = core.opening.options
        reconnection = ReconnectionDelay(initial: options.retryDelay, maximum: options.maximumDelay)
    }

    mutating func next() async throws(NetworkError) -> ServerEvent? {
        guard !hasEnded else { return nil }
        do throws(NetworkError) {
            if let event = try await advance() { return event }
            end()
            return nil
        } catch {
            end()
            throw Task.isCancelled && !error.isCancelled ? NetworkError(.cancelled) : error
        }
    }

    private mutating func end() {
        hasEnded = true
        connection = nil
        lease = nil
    }

    private mutating func advance() async throws(NetworkError) -> ServerEvent? {
        if lease == nil {
            guard core.claim() else {
                throw NetworkError(
                    .invalidRequest, detail: "The event stream is already being iterated.",
                    hint: "Create one stream for each reader.")
            }
            lease = Lease(core)
        }
        while true {
            guard !Task.isCancelled else { throw NetworkError(.cancelled) }
            do throws(NetworkError) {
                guard let connection else {
                    guard try await connect() else { return nil }
                    continue
                }
                if let event = try parsed(connection) {
                    isWorking = true
                    return event.data == core.opening.options.endMarker ? nil : event
                }
                if let chunk = try await connection.next() {
                    if connection.isStable { isWorking = true }
                    parser.push(chunk)
                    continue
                }
            } catch {
                guard try await reconnect(after: error) else { throw error }
                continue
            }
            guard try await reconnect(after: nil) else { return nil }
        }
    }

    /// Returns the next event of the bytes that have arrived.
    private mutating func parsed(_ connection: EventConnection) throws(NetworkError) -> ServerEvent? {
        let event: EventStreamParser.Event?
        do throws(EventStreamParser.Failure) {
            event = try parser.next()
        } catch {
            throw connection.call.named(
                NetworkError(
                    .limitExceeded(.responseBody),
                    detail: "\(error.rawValue) of the event stream has more than "
                        + "\(core.opening.options.maximumEventSize) bytes.",
                    hint: "Raise EventStream.Options.maximumEventSize."))
        }
        if let retry = parser.retry { reconnection.request(milliseconds: retry) }
        core.lastEventID = parser.lastEventID
        return event.map {
            ServerEvent(name: $0.name, data: $0.data, id: $0.id, retry: $0.retry.map { .milliseconds($0) })
        }
    }

    /// Opens a connection. Returns false if the server has ended the stream.
    private mutating func connect() async throws(NetworkError) -> Bool {
        core.change(to: .connecting)
        isWorking = false
        let options = core.opening.options
        let call = try await core.run {
            [opening = core.opening, id = core.lastEventID] () throws(NetworkError) in
            try await opening.open(lastEventID: id)
        }
        guard let call else { return false }
        parser = EventStreamParser(lastEventID: core.lastEventID, limit: options.maximumEventSize)
        let connection = EventConnection(call, readTimeout: options.readTimeout)
        self.connection = connection
        core.interruptible { [weak connection] in connection?.end() }
        core.change(to: .open)
        return true
    }

    /// Waits before the next connection. Returns false if there is none, because the stream does not reconnect.
    ///
    /// - `error`: the reason why the connection failed; nil if its body ended. Thrown if it is final.
    private mutating func reconnect(after error: NetworkError?) async throws(NetworkError) -> Bool {
        let ended = connection
        connection = nil
        core.interruptible(by: nil)
        ended?.end()
        guard !Task.isCancelled else { throw NetworkError(.cancelled) }
        if core.takeRestart() {
            reconnection.succeed()
            return true
        }
        guard core.opening.reconnects else {
            if error == nil, let marker = core.opening.options.endMarker {
                let failure = NetworkError(
                    .connectionLost(.requestMayHaveArrived),
                    detail: "The event stream ended without its end marker \"\(marker)\".")
                throw ended?.call.named(failure) ?? failure
            }
            return false
        }
        // A body that breaks off within its coding or its framing is invalid, and its connection is lost as well.
        let isBroken = ended != nil && error?.reason == .badResponse
        if let error, !error.allowsReconnection, !isBroken { throw error }
        if isWorking { reconnection.succeed() } else { reconnection.fail() }
        if let maximum = core.opening.options.maximumFailures, reconnection.failures > maximum {
            let failure = NetworkError(
                .badResponse, detail: "The event stream ended \(reconnection.failures) times without an event.")
            throw error ?? ended?.call.named(failure) ?? failure
        }
        try await pause(after: error)
        return true
    }

    private func pause(after error: NetworkError?) async throws(NetworkError) {
        let time = core.opening.client.configuration.time
        let wait = reconnection.wait(retryAfter: error?.retryAfter, random: .random(in: 0..<1))
        let seconds = Double(wait.wholeNanoseconds) / 1e9
        core.change(to: .waiting(until: time.date.addingTimeInterval(seconds), after: error))
        try await core.pause(for: wait, on: time)
    }
}

/// Ends the iteration when the iterator is released.
private final class Lease: Sendable {
    private let core: EventStreamCore

    init(_ core: EventStreamCore) {
        self.core = core
    }

    deinit { core.release() }
}
