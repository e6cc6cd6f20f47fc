// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// Several event loops that serve one origin: they divide its connections, and share the queue for them.
@Suite(.timeLimit(.minutes(1)))
struct SharedQueueTests {
    @Test(
        "The waiting call gets the first slot, at whichever thread it becomes free", arguments: [true, false],
        [2, 3])
    func firstPlace(longFirst: Bool, loops: Int) async throws {
        let setting = try WaitingTests.Setting(places: 2, loops: loops)
        let held = try await setting.start(longFirst ? "/long" : "/held")
        let other = try await setting.start(longFirst ? "/held" : "/long")
        var waiting: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<6 { waiting.append(try await setting.start("/free")) }
        #expect(setting.transport.snapshot.active == 2 && setting.transport.snapshot.waiting == 6)
        setting.release.fire()
        for task in waiting { #expect(try await task.value.status == .ok) }
        #expect(await eventually { setting.transport.snapshot.active == 1 && setting.transport.snapshot.waiting == 0 })
        setting.releaseLong.fire()
        #expect(try await [held.value.status, other.value.status] == [.ok, .ok])
        #expect(setting.server.connectionCount <= 2)
    }

    @Test("No caller waits at a busy thread while another one has a slot")
    func freePlace() async throws {
        let pool = TransportConfiguration.Pool(perHost: 2)
        let transport = CurlTransport(
            configuration: TransportConfiguration(pool: pool),
            options: CurlTransport.Options(eventLoops: 2, eventLoopsPerOrigin: 2))
        let servers = try (0..<8).map { _ in try MockServer() }
        for server in servers { server.on(.get, "/", respond: .text("never").stalled(at: .beforeHead)) }
        // Which thread they come to depends on what it has in progress for all hosts.
        let calls = servers.flatMap { server in
            (0..<3).map { _ in Task { try await transport.exchange(.get, server.url + "/") } }
        }
        #expect(await eventually { transport.snapshot.active == 16 && transport.snapshot.waiting == 8 })
        for server in servers { _ = try await server.waitForRequests(count: 2) }
        for call in calls { call.cancel() }
        for call in calls { #expect(await outcome(call).reason == .cancelled) }
        #expect(await eventually { transport.snapshot.active == 0 && transport.snapshot.waiting == 0 })
    }

    @Test("Origins with several event loops are divided among all of them")
    func dividedOrigins() throws {
        let rules = ProxyRules(.none, environment: [:])
        let queues = RequestQueues(configuration: TransportConfiguration(), proxies: rules, loops: 8, loopsPerOrigin: 2)
        let transport = CurlTransport()
        var used: Set<Int> = []
        for port in 1...100 {
            let request = try HTTPRequest(url: "https://host.example:\(port)/")
            let transfer = Transfer(request: request, context: ExchangeContext(), upload: nil, owner: transport)
            _ = queues.requestSlot(for: transfer)
            let loops = Set(transfer.queue?.loops ?? [])
            #expect(loops.count == 2)
            used.formUnion(loops)
        }
        #expect(used.count == 8)
    }

    @Test("Priorities and the length of the queue hold for all threads", arguments: [1, 2])
    func order(loops: Int) async throws {
        let setting = try WaitingTests.Setting(places: 2, waiting: 4, loops: loops)
        var tasks = [try await setting.start("/held"), try await setting.start("/long")]
        try await setting.server.waitForRequests(count: 2)
        for (name, priority) in [
            ("low", RequestOptions.Priority.low), ("normal", .normal), ("high", .high), ("low", .low),
        ] {
            tasks.append(try await setting.start("/" + name, priority: priority))
        }
        let error = try #require(await setting.transport.failure(.get, setting.server.url + "/free"))
        #expect(error.reason == .refused(by: .overload))
        expectTexts(error)
        setting.release.fire()
        for task in tasks[2...] { #expect(try await task.value.status == .ok) }
        let paths = setting.server.requests.map(\.path)
        #expect(paths.dropFirst(2) == ["/high", "/normal", "/low", "/low"])
        setting.releaseLong.fire()
        for task in tasks { _ = try await task.value }
    }

    @Test("In a drain, cancelling reaches a call taken over from a thread that has ended", arguments: [true, false])
    func taken(releasesHeld: Bool) async throws {
        let setting = try WaitingTests.Setting(places: 2, loops: 2)
        let never = Signal()
        setting.server.on(.get, "/never") { _ in
            never.block()
            return .text("never")
        }
        let (first, second) = (try await setting.start("/held"), try await setting.start("/long"))
        let call = try await setting.start("/never")
        (releasesHeld ? setting.release : setting.releaseLong).fire()
        _ = try await setting.server.waitForRequests(count: 3)
        async let ending: Void = setting.transport.shutdown(.drain(deadline: .seconds(30)))
        (releasesHeld ? setting.releaseLong : setting.release).fire()
        #expect(try await [first.value.status, second.value.status] == [.ok, .ok])
        // The threads differ in which of them came to the one, so both orders are tried.
        #expect(await eventually { setting.transport.snapshot.active == 1 })
        call.cancel()
        #expect(await outcome(call).reason == .cancelled)
        never.fire()
        await ending
    }

    /// Most of them wait, are taken by the other thread, and are cancelled or late at any moment of that.
    @Test("Each of many calls ends once, and as it has to", arguments: 1...4)
    func storm(loops: Int) async throws {
        let setting = try WaitingTests.Setting(places: 5, loops: loops)
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        setting.release.fire()
        setting.server.on(.get, "/broken", respond: .closeBeforeReply)
        let plans = (0..<2000).map { _ in
            (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<3000, using: &random))
        }
        let ends = await withTaskGroup(of: (Int, NetworkError.Reason?).self) { group in
            for (kind, delay) in plans {
                group.addTask { [setting] in
                    let timeouts = kind == 1 ? Timeouts(total: .microseconds(delay * 10)) : .standard
                    let path = kind == 2 ? "/held" : kind == 3 ? "/broken" : "/free"
                    let task = Task {
                        try await setting.transport.exchange(.get, setting.server.url + path, timeouts: timeouts).data()
                    }
                    if kind == 0 {
                        try? await SystemTime().sleep(for: .microseconds(delay * 10))
                        task.cancel()
                    }
                    return (kind, await outcome(task).reason)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count == 2000)
        for (kind, reason) in ends {
            let isRight =
                switch kind {
                case 0: reason == nil || reason == .cancelled
                // The time may be over in the queue, or in the moment after it.
                case 1: reason == nil || reason == .timedOut(.queue) || reason == .timedOut(.total)
                case 3: reason == .connectionLost(.requestMayHaveArrived)
                default: reason == nil
                }
            #expect(isRight, "kind \(kind), \(String(describing: reason)), seed \(seed)")
        }
        #expect(await eventually { setting.transport.snapshot.isIdle && setting.transport.snapshot.connections <= 5 })
        #expect(try await setting.transport.exchange(.get, setting.server.url + "/free").status == .ok)
    }
}
