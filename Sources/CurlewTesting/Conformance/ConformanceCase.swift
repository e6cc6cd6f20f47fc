// SPDX-License-Identifier: MIT

import CurlewCore

/// One thing that every transport has to do alike, as a value that can be run on any of them.
///
///     @Test(arguments: ConformanceSuite.cases)
///     func conforms(_ conformanceCase: ConformanceCase) async throws {
///         try await conformanceCase.run(on: engine, in: environment)
///     }
///
/// A case starts its own ``MockServer`` where that is enough; other servers come with the environment. Cases share
/// nothing and may run at the same time.
public struct ConformanceCase: Sendable {
    /// What is expected, as a sentence. Unique in the suite.
    public let name: String
    /// What it is about.
    public let group: Group
    /// Whether it needs a network, or only somebody who answers messages.
    public let scope: Scope
    /// What the environment has to have for it, besides loopback.
    public let needs: Set<ConformanceEnvironment.Part>
    /// Where the expectation comes from: a section of an RFC, or the contract of `Transport`.
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

    /// Runs the case: returns if the engine does what is expected.
    ///
    /// Throws ``ConformanceFailure`` if it does not, if it has not ended within the limit (30 seconds by default), and if
    /// the environment lacks a part that the case needs, which the message names. Transports that the case made are shut
    /// down at its end.
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

    /// What comes first: the end of the work, or that of the time. Work that cannot be cancelled is left behind.
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
    /// Who can be asked to pass a case.
    public enum Scope: String, Hashable, Sendable {
        /// Everything that answers messages, a `MockTransport` included.
        case message
        /// Engines that write to a network.
        case wire
    }

    /// Cases that belong together; also what one process of an engine runs that may not survive it.
    public enum Group: String, Hashable, Sendable, CaseIterable, Codable {
        /// Methods and the bodies of requests.
        case requests
        /// Request lines and fields.
        case requestHeads
        /// Status lines, fields, interim answers and trailers.
        case responseHeads
        /// Bodies of responses, in chunks of every size.
        case responseBodies
        /// How the end of a body is declared, rightly and wrongly.
        case framing
        /// Connections that end too early, at each of five places.
        case interruptions
        /// Phases that take too long.
        case timeouts
        /// Connections: kept, stale, refused.
        case connections
        /// What belongs to interceptors and is left to them.
        case policies
        /// Content codings.
        case codings
        /// The most that a server may send.
        case limits
        /// Whom the client trusts, and as whom it shows itself.
        case security
        /// HTTP/2, with servers that behave and servers that do not.
        case http2
        /// Proxies, Unix domain sockets and addresses.
        case places
        /// Tasks that are cancelled.
        case cancellation
        /// Readers and servers that are slower than the other side.
        case backPressure
        /// Much at once.
        case load
        /// The end of an engine.
        case shutdown
    }
}

extension ConformanceCase: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

/// What an engine did otherwise than expected.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was expected and what came, for the person who reads a test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
