// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewTesting

/// A requirement that every transport has to meet, as a value that can be run on any of them.
///
///     @Test(arguments: ConformanceSuite.cases)
///     func conforms(_ conformanceCase: ConformanceCase) async throws {
///         try await conformanceCase.run(on: engine, in: environment)
///     }
///
/// A case starts its own `MockServer` where that is sufficient; the environment provides other servers. Cases share
/// nothing and may run concurrently.
public struct ConformanceCase: Sendable {
    /// The requirement as a sentence. Unique in the suite.
    public let name: String
    /// The topic of the case.
    public let group: Group
    /// Whether the case requires a network, or only a transport that responds to messages.
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

    /// Runs the case, and returns if the transport meets the requirement.
    ///
    /// Throws ``ConformanceFailure`` if it does not, if the case has not ended within the limit (30 seconds by
    /// default), and if the environment lacks a part that the case needs; the message names the part. Transports that
    /// the case made are shut down at its end.
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

    /// Returns the result of the work, or fails at the time limit. Work that cannot be cancelled is left running.
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
    /// The kind of transport that can be required to pass a case.
    public enum Scope: String, Hashable, Sendable {
        /// Every transport that responds to messages, including a `MockTransport`.
        case message
        /// Transports that write to a network.
        case wire
    }

    /// A group of related cases. Cases of a transport that may end its process are run in one process for each group.
    public enum Group: String, Hashable, Sendable, CaseIterable, Codable {
        /// Methods and request bodies.
        case requests
        /// Request lines and fields.
        case requestHeads
        /// Status lines, fields, interim responses and trailers.
        case responseHeads
        /// Response bodies, in chunks of every size.
        case responseBodies
        /// How the end of a body is declared, correctly and incorrectly.
        case framing
        /// Connections that end prematurely, at each of five stages.
        case interruptions
        /// Phases that time out.
        case timeouts
        /// Connections: kept alive, stale, refused.
        case connections
        /// Behaviour that belongs to interceptors, so that a transport must not implement it.
        case policies
        /// Content codings.
        case codings
        /// Limits on what a server may send.
        case limits
        /// The certificates that the client trusts, and the one that it presents.
        case security
        /// HTTP/2, with conforming and faulty servers.
        case http2
        /// Proxies, Unix domain sockets and addresses.
        case addresses
        /// Cancelled tasks.
        case cancellation
        /// Readers and servers that are slower than their peer.
        case backPressure
        /// Many concurrent exchanges.
        case load
        /// The shutdown of a transport.
        case shutdown
    }
}

extension ConformanceCase: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

/// A deviation of a transport from the required behaviour.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The expected and the actual behaviour, for the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
