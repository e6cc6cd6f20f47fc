// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension APIClient {
    /// Returns WebSocket connections, one after the other: each is opened when the iterator requests it.
    ///
    /// Each connection is opened as by `webSocket(_:options:)`, through the interceptors of the client, so credentials
    /// are current and are refreshed after a 401.
    ///
    /// - `onOpen`: the hook, which runs on each new connection before the sequence returns it, to subscribe again. The
    ///   hook may also receive messages. An error of the hook closes the connection with 1001 and counts as a failure.
    ///   `Options.hookTimeout` limits its time.
    public func webSocketConnections(
        _ route: some Route, options: WebSocket.Connections.Options = WebSocket.Connections.Options(),
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void = { _ in }
    ) -> WebSocket.Connections {
        WebSocket.Connections(options: options, time: configuration.time, onOpen: onOpen) {
            () async throws(NetworkError) in
            try await webSocket(route, options: options.socket)
        }
    }

    /// Returns WebSocket connections for an inline request: `client.webSocketConnections(.get("/prices"))`.
    public func webSocketConnections(
        _ request: Request<Void>, options: WebSocket.Connections.Options = WebSocket.Connections.Options(),
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void = { _ in }
    ) -> WebSocket.Connections {
        WebSocket.Connections(options: options, time: configuration.time, onOpen: onOpen) {
            () async throws(NetworkError) in
            try await webSocket(request, options: options.socket)
        }
    }
}

extension WebSocket {
    /// Consecutive WebSocket connections to one target, as an asynchronous sequence that connects again.
    ///
    ///     let connections = client.webSocketConnections(.get("/prices")) { socket in
    ///         try await socket.send("subscribe")                     // on each new connection
    ///     }
    ///     for try await socket in connections {
    ///         do {
    ///             for try await message in socket { print(message) }
    ///         } catch {
    ///             print("lost:", error)
    ///         }
    ///     }
    ///
    /// Requesting the next connection closes the last one with 1001, if it is still open. What happens then depends on
    /// how the last one ended:
    ///
    /// - The caller has called its `close`: the sequence ends.
    /// - The server closed it with 1000 or without a code: the sequence ends. After the codes 1001 (going away),
    ///   1011 (internal error), 1012 (service restart), 1013 (try again later) and 1014 (bad gateway), the sequence
    ///   connects again. After other codes, also those of applications, the sequence throws the error.
    /// - It was lost or could not be opened: if `NetworkError.isRetryable` is true or the status is 5xx, the sequence
    ///   connects again. Other errors, such as the statuses 401, 403 and 404, failures of TLS and violations of the
    ///   protocol, are thrown.
    /// - It was still open when the next one was requested, or the hook failed: the sequence connects again.
    ///
    /// The sequence waits before each further connection. The wait is random, with an upper bound that doubles with
    /// each consecutive failure, and never shorter than the server requests with `Retry-After`, up to one day. A
    /// connection that cannot be opened is a failure, and so is the end of a connection. The count begins again at one
    /// if the next connection is requested 10 s or more after the opening.
    ///
    /// Each iteration has its own connections, and nothing that was sent on a lost connection is sent again. Cancelling
    /// the task ends a wait and throws `.cancelled`. After an error, the iteration has ended.
    public struct Connections: AsyncSequence, Sendable {
        fileprivate let options: Options
        fileprivate let time: any TimeSource
        fileprivate let onOpen: @Sendable (WebSocket) async throws -> Void
        fileprivate let connect: @Sendable () async throws(NetworkError) -> WebSocket

        /// The settings of consecutive WebSocket connections.
        public struct Options: Sendable {
            /// The settings of each connection.
            public var socket = WebSocket.Options()
            /// The maximum number of consecutive failures. After one more, the sequence throws its error, or
            /// `.connectionLost` if that failure has none. Zero allows one connection. Nil sets no limit. Default 10,
            /// which takes about two and a half minutes with the default waits.
            public var maximumFailures: Int? = 10
            /// The upper bound of the random wait after the first failure; it doubles with each consecutive failure.
            /// Less than 100 ms counts as 100 ms. Default 1 s.
            public var retryDelay: Duration = .seconds(1)
            /// The maximum to which the bound `retryDelay` doubles; less than 100 ms counts as 100 ms. A wait that the
            /// server requests with `Retry-After` may be longer, up to one day. Default 60 s.
            public var maximumDelay: Duration = .seconds(60)
            /// The time limit of the hook `onOpen`. Then the connection is lost, and what the hook calls on its socket
            /// throws `.timedOut(.total)`. The hook is not cancelled: the sequence waits for it. Default 30 s.
            public var hookTimeout: Duration = .seconds(30)

            /// Creates the default options.
            public init() {}
        }

        /// Returns an iterator. It connects when its first connection is requested.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }

        /// Opens the connections one after the other.
        public struct Iterator: AsyncIteratorProtocol {
            private let connections: WebSocket.Connections
            private var delay: ReconnectionDelay
            /// The connection that was returned last.
            private var current: (socket: WebSocket, opened: SystemTime.Instant)?
            private var hasEnded = false

            fileprivate init(_ connections: WebSocket.Connections) {
                self.connections = connections
                delay = ReconnectionDelay(
                    initial: connections.options.retryDelay, maximum: connections.options.maximumDelay)
            }

            /// Returns the next connection; nil after the end of the sequence, and after an error. Throws the errors
            /// that ``WebSocket/Connections`` lists.
            public mutating func next() async throws(NetworkError) -> WebSocket? {
                guard !hasEnded else { return nil }
                do throws(NetworkError) {
                    if let socket = try await advance() { return socket }
                    hasEnded = true
                    return nil
                } catch {
                    hasEnded = true
                    throw Task.isCancelled && !error.isCancelled ? NetworkError(.cancelled) : error
                }
            }

            private mutating func advance() async throws(NetworkError) -> WebSocket? {
                if let (socket, opened) = current {
                    current = nil
                    let ending = Ending(socket.core)
                    socket.core.abandon()
                    if opened.duration(to: connections.time.now) >= ReconnectionDelay.stableTime { delay.succeed() }
                    guard try await waits(after: ending) else { return nil }
                }
                while true {
                    let ending: Ending
                    do throws(NetworkError) {
                        let socket = try await connections.connect()
                        let failure = await connections.runHook(socket)
                        guard let failure else {
                            current = (socket, connections.time.now)
                            return socket
                        }
                        ending = Ending(socket.core, hookFailure: failure)
                        socket.core.abandon()
                    } catch {
                        ending = Ending(error: error, allowsAnother: error.allowsReconnection)
                    }
                    guard try await waits(after: ending) else { return nil }
                }
            }

            /// Waits before another connection. Returns false if there is none, and throws if the reason is an error.
            private mutating func waits(after ending: Ending) async throws(NetworkError) -> Bool {
                guard !Task.isCancelled else { throw NetworkError(.cancelled) }
                guard ending.allowsAnother else {
                    if let error = ending.error { throw error }
                    return false
                }
                delay.fail()
                if let maximum = connections.options.maximumFailures, delay.failures > maximum {
                    throw ending.error
                        ?? NetworkError(
                            .connectionLost(.requestNotSent),
                            detail: "\(delay.failures) WebSocket connections in a row ended soon after their opening.")
                }
                let wait = delay.wait(retryAfter: ending.error?.retryAfter, random: .random(in: 0..<1))
                do { try await connections.time.sleep(for: wait) } catch { throw NetworkError(error) }
                return true
            }
        }

        /// Runs the hook, within its time limit. Returns its error.
        private func runHook(_ socket: WebSocket) async -> NetworkError? {
            let alarm = Task { [time, options] in
                guard (try? await time.alarm(at: time.now.advanced(by: options.hookTimeout))) != nil else { return }
                socket.core.lose(
                    NetworkError(
                        .timedOut(.total),
                        detail: "The hook of the WebSocket took longer than \(options.hookTimeout.brief).",
                        hint: "Check what the hook waits for, or raise WebSocket.Connections.Options.hookTimeout."))
            }
            defer { alarm.cancel() }
            do { try await onOpen(socket) } catch { return NetworkError(error) }
            return nil
        }
    }
}

/// The end of a connection, and whether another one may succeed.
private struct Ending {
    /// Why the connection failed; nil if it was closed or left without an error.
    let error: NetworkError?
    let allowsAnother: Bool
}

extension Ending {
    /// - `hookFailure`: the error of the hook; nil if the connection was returned.
    init(_ core: WebSocketCore, hookFailure: NetworkError? = nil) {
        var failure: NetworkError?
        if case .failure(let error) = core.incoming.end { failure = error }
        if core.isClosedByCaller {
            self.init(error: hookFailure, allowsAnother: false)
        } else if let closing = core.closing, closing.isByServer {
            let isTransient = closing.code == .goingAway || (1011...1014).contains(closing.code.rawValue)
            self.init(error: hookFailure ?? failure, allowsAnother: isTransient)
        } else {
            let isTransient = hookFailure != nil || failure?.allowsReconnection ?? true
            self.init(error: hookFailure ?? failure, allowsAnother: isTransient)
        }
    }
}
