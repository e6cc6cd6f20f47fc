// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewTesting

/// A test case for a requirement that transports must meet. It can run with any transport.
///
///     @Test(arguments: ConformanceSuite.cases)
///     func conforms(_ conformanceCase: ConformanceCase) async throws {
///         try await conformanceCase.run(on: engine, in: environment)
///     }
///
/// Most cases start their own `MockServer`; the environment provides all other servers. Cases share nothing and may run
/// concurrently.
public struct ConformanceCase: Sendable {
    /// The requirement as a sentence, unique in the suite.
    public let name: String
    /// The group of the case.
    public let group: Group
    /// The kind of transport to which the requirement applies.
    public let scope: Scope
    /// The parts of the environment that the case needs in addition to loopback.
    public let needs: Set<ConformanceEnvironment.Part>
    /// The source of the requirement: a section of an RFC, or the contract of `Transport`.
    public let rule: String

    private let body: @Sendable (ConformanceTrial) async throws -> Void

    init(
        _ name: String, _ group: Group, _ scope: Scope = .wire, needs: Set<ConformanceEnvironment.Part> = [],
        rule: String, body: @escaping @Sendable (ConformanceTrial) async throws -> Void
    ) {
        self.name = name
        self.group = group
        self.scope = scope
        self.needs = needs
        self.rule = rule
        self.body = body
    }

    /// Runs the case with transports that `engine` creates. Returns normally if they meet the requirement.
    ///
    /// Throws a ``ConformanceFailure`` if they do not, if the case has not ended within the limit (30 seconds by
    /// default), or if the environment lacks a part that the case needs; the message names the part. After the case,
    /// its transports are shut down. The shutdown has a separate limit of the same duration, and fails the case if it
    /// takes longer.
    public func run(
        on engine: ConformanceEngine, in environment: ConformanceEnvironment, within limit: Duration = .seconds(30)
    ) async throws {
        let missing = needs.filter { environment.addresses[$0] == nil }.map(\.rawValue).sorted()
        guard missing.isEmpty else {
            throw ConformanceFailure(
                "\"\(name)\" was not run: the environment has no \(missing.joined(separator: ", "))")
        }
        let trial = ConformanceTrial(engine, environment)
        let result = await Self.result(within: limit) { [body] in try await body(trial) }
        let ending = await Self.result(within: limit) { await trial.end() }
        switch result {
        case .success:
            guard case .failure = ending else { return }
            throw ConformanceFailure("the transports of the case did not shut down within \(limit)")
        case .failure(let failure as ConformanceFailure): throw failure
        case .failure(let error): throw ConformanceFailure("an error came where none was expected: \(error)")
        }
    }

    /// Returns the result of `work`, or a failure if `work` has not ended within the limit. In that case cancels `work`
    /// without waiting for it, so work that ignores cancellation continues.
    private static func result(
        within limit: Duration, _ work: @escaping @Sendable () async throws -> Void
    ) async -> Result<Void, any Error> {
        let (results, continuation) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
        let worker = Task {
            do {
                try await work()
                continuation.yield(.success(()))
            } catch {
                continuation.yield(.failure(error))
            }
        }
        let timer = Task {
            guard (try? await SystemTime().sleep(for: limit)) != nil else { return }
            continuation.yield(.failure(ConformanceFailure("the case did not end within \(limit)")))
        }
        defer {
            timer.cancel()
            worker.cancel()
        }
        for await result in results { return result }
        return .failure(CancellationError())
    }
}

extension ConformanceCase {
    /// The kind of transport to which a requirement applies.
    public enum Scope: String, Hashable, Sendable {
        /// All transports that respond to messages, including `MockTransport`.
        case message
        /// Only transports that use a network.
        case wire
    }

    /// A group of related cases. If a transport may end its process, each group runs in a separate process.
    public enum Group: String, Hashable, Sendable, CaseIterable, Codable {
        /// Methods and request bodies.
        case requests
        /// Request lines and fields.
        case requestHeads
        /// Status lines, fields, interim responses and trailers.
        case responseHeads
        /// Response bodies of every size, and in chunks of every size.
        case responseBodies
        /// Correct and incorrect declarations of the end of a body.
        case framing
        /// Connections that end prematurely, at each of five stages of an exchange.
        case interruptions
        /// Phases of an exchange that time out.
        case timeouts
        /// Connections that are kept alive, stale, or refused.
        case connections
        /// Behaviour that belongs to interceptors, so that a transport must not implement it.
        case policies
        /// Content codings.
        case codings
        /// Limits on what a server may send.
        case limits
        /// The certificates that the client trusts, and the certificate that the client presents.
        case security
        /// HTTP/2, with conforming and faulty servers.
        case http2
        /// Proxies, Unix domain sockets, and the addresses of hosts.
        case addresses
        /// Tasks that are cancelled in each phase of an exchange.
        case cancellation
        /// Back-pressure: readers and servers that are slower than their peer.
        case backPressure
        /// Event streams, over connections that are cut.
        case eventStreams
        /// WebSocket connections: messages, pings, and every way to end.
        case webSockets
        /// Many concurrent exchanges.
        case load
        /// The shutdown of a transport.
        case shutdown
    }
}

extension ConformanceCase: CustomStringConvertible {
    /// The name of the case.
    public var description: String { name }
}

/// An error that reports that a transport or a cache does not meet a requirement, or that a case could not run.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the expected and the actual behaviour, for the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The text of ``message``.
    public var description: String { message }
}
