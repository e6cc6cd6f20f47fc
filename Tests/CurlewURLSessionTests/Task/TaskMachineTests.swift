// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// Every order of what URLSession, the caller and the reader do, without I/O.
@Suite(.timeLimit(.minutes(1)))
struct TaskMachineTests {
    private let ok = TaskMachine.Head(status: .ok, headers: ["X-A": "1"], length: nil)
    private let bytes = Data("0123456789".utf8)

    private func machine(
        _ flow: TaskMachine.Flow = .suspends(at: 16), smallBody: Int = 10, streams: Bool = false
    ) -> TaskMachine {
        TaskMachine(flow: flow, smallBody: smallBody, streams: streams)
    }

    private func run(_ machine: inout TaskMachine, _ events: TaskMachine.Event...) -> [String] {
        events.map { Self.text(machine.handle($0)) }
    }

    static func text(_ effect: TaskMachine.Effect?) -> String {
        switch effect {
        case nil: "-"
        case .respond(let head, let data): "answer \(head.status.code) \(String(decoding: data, as: UTF8.self))"
        case .stream(let head): "stream \(head.status.code)"
        case .fail(let error): "fail \(error.label)"
        case .chunk(let data?): "chunk \(String(decoding: data, as: UTF8.self))"
        case .chunk(nil): "end"
        case .breakOff(let error): "broken \(error.label)"
        }
    }

    @Test(
        "A body that grows too far by decoding ends, where the length on the wire is known", arguments: [nil, 20_000])
    func growth(codedLength: Int64?) {
        var head = ok
        head.codedLength = codedLength
        var machine = TaskMachine(
            flow: .suspends(at: 16), smallBody: 10, streams: true, limits: Limits(decodedRatio: 100))
        #expect(run(&machine, .head(head), .data(Data(count: 1_999_999))) == ["stream 200", "-"])
        _ = run(&machine, .data(Data(count: 2)))
        #expect(machine.wantsEnd == (codedLength != nil))
        if codedLength != nil {
            #expect(run(&machine, .read) == ["broken \(NetworkError(.limitExceeded(.responseBody)).label)"])
        }
    }

    @Test("A small response is delivered whole")
    func small() {
        var machine = machine()
        #expect(
            run(&machine, .head(ok), .data(bytes), .ended(nil), .ended(nil)) == [
                "-", "-", "answer 200 0123456789", "-",
            ])
        #expect(!machine.wantsEnd && machine.isEnded)
    }

    @Test("A large response is delivered with its head, and its bytes as they are read")
    func large() {
        var machine = machine()
        let steps = run(&machine, .head(ok), .data(bytes), .data(bytes), .read, .read, .data(bytes), .ended(nil), .read)
        #expect(steps == ["-", "-", "stream 200", "chunk 01234567890123456789", "-", "chunk 0123456789", "-", "end"])
    }

    @Test("A streamed response is delivered at once, whatever its size")
    func streamed() {
        var machine = machine(streams: true)
        #expect(run(&machine, .head(ok), .read, .ended(nil), .read) == ["stream 200", "-", "end", "end"])
    }

    @Test("Interim responses are not the response; a second response is ignored")
    func interim() {
        var machine = machine()
        let early = TaskMachine.Head(status: 103, headers: [:], length: nil)
        let second = TaskMachine.Head(status: .notFound, headers: [:], length: nil)
        #expect(run(&machine, .head(early), .head(ok), .head(second), .ended(nil)) == ["-", "-", "-", "answer 200 "])
    }

    @Test("A task that ends without a head is an error")
    func headless() {
        var (first, second) = (machine(), machine())
        #expect(run(&first, .ended(nil)) == ["fail badResponse"])
        #expect(run(&second, .data(bytes)) == ["fail badResponse"])
        #expect(second.wantsEnd)
    }

    @Test("A demand for credentials ends a response, and the task is not asked further")
    func challenge() {
        var machine = machine()
        let denied = TaskMachine.Head(status: .unauthorized, headers: [:], length: nil)
        let cancelled = NetworkError(.cancelled)
        let steps = run(&machine, .head(denied), .data(bytes), .challenge, .ended(cancelled))
        #expect(steps == ["stream 401", "-", "-", "-"])
        #expect(machine.wantsEnd)
        #expect(run(&machine, .read) == ["chunk 0123456789"])
    }

    @Test("Fewer bytes than declared are a lost connection")
    func short() {
        let head = TaskMachine.Head(status: .ok, headers: [:], length: 11)
        var (whole, streamed) = (machine(smallBody: 100), machine(streams: true))
        #expect(run(&whole, .head(head), .data(bytes), .ended(nil)).last == "fail connectionLost requestMayHaveArrived")
        let steps = run(&streamed, .head(head), .data(bytes), .ended(nil), .read, .read)
        #expect(steps.suffix(2) == ["chunk 0123456789", "broken connectionLost requestMayHaveArrived"])
    }

    @Test("Bytes that came before a failure are read, then the failure")
    func failureAfterBytes() {
        var machine = machine(streams: true)
        let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
        let steps = run(&machine, .head(ok), .data(bytes), .ended(lost), .read, .read, .read)
        #expect(steps[3] == "chunk 0123456789")
        #expect(steps[4].hasPrefix("broken") && steps[5].hasPrefix("broken"))
    }

    @Test("An abandoned body ends the task, and a waiting reader is notified")
    func abandoned() {
        var waiting = machine(streams: true)
        #expect(run(&waiting, .head(ok), .read, .abandoned).last == "broken cancelled")
        #expect(waiting.wantsEnd)
        var idle = machine(streams: true)
        #expect(run(&idle, .head(ok), .data(bytes), .abandoned, .read) == ["stream 200", "-", "-", "broken cancelled"])
        #expect(idle.wantsEnd)
        var complete = machine(streams: true)
        #expect(run(&complete, .head(ok), .ended(nil), .abandoned).last == "-")
        #expect(!complete.wantsEnd)
        var unread = machine(streams: true)
        #expect(run(&unread, .head(ok), .data(bytes), .ended(nil), .abandoned, .read).last == "broken cancelled")
    }

    @Test("A failure after the end takes nothing from a slow reader")
    func failureAfterEnd() {
        var machine = machine(streams: true)
        let steps = run(&machine, .head(ok), .data(bytes), .challenge, .broken(NetworkError(.cancelled)), .read, .read)
        #expect(steps.suffix(2) == ["chunk 0123456789", "end"])
    }

    @Test("A slow reader suspends the task, and reading resumes it")
    func suspension() {
        var machine = machine(.suspends(at: 16), streams: true)
        _ = run(&machine, .head(ok), .data(bytes))
        #expect(!machine.wantsSuspension)
        _ = run(&machine, .data(bytes))
        #expect(machine.wantsSuspension)
        #expect(run(&machine, .read) == ["chunk 01234567890123456789"])
        #expect(!machine.wantsSuspension)
        _ = run(&machine, .data(bytes), .data(bytes), .abandoned)
        #expect(machine.wantsEnd && !machine.wantsSuspension)
    }

    @Test("Where nothing can be suspended, a reader who is too far behind loses the response")
    func bound() {
        var machine = machine(.fails(beyond: 16), streams: true)
        let steps = run(&machine, .head(ok), .data(bytes), .data(bytes), .data(bytes), .read, .read)
        #expect(
            steps == ["stream 200", "-", "-", "-"] + Array(repeating: "broken limitExceeded responseBody", count: 2))
        #expect(machine.wantsEnd)
        // The same when the head has not been delivered.
        var gathering = self.machine(.fails(beyond: 5), smallBody: 5)
        #expect(
            run(&gathering, .head(ok), .data(bytes), .read).suffix(2) == [
                "stream 200", "broken limitExceeded responseBody",
            ])
    }

    @Test("Any order of events notifies each waiter once, and loses or repeats no byte")
    func anyOrder() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<20_000 {
            var run = RandomRun(
                machine: machine(
                    Bool.random(using: &random) ? .suspends(at: 16) : .fails(beyond: 40), smallBody: 10,
                    streams: Bool.random(using: &random)))
            for _ in 0..<Int.random(in: 1...14, using: &random) { run.step(using: &random) }
            run.finish()
            #expect(run.problem == nil, "seed \(seed), round \(round): \(run.problem ?? "") after \(run.events)")
        }
    }
}

/// A random life of a machine, and whether it kept the rules.
private struct RandomRun {
    var machine: TaskMachine
    var events: [String] = []
    var problem: String?
    private var answers = 0
    private var isReading = false
    private var (given, taken) = (Data(), Data())
    private var isBroken = false
    private var hasStreamed = false

    init(machine: TaskMachine) {
        self.machine = machine
    }

    mutating func step(using random: inout SeededGenerator) {
        let byte = UInt8(events.count)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: apply(.head(TaskMachine.Head(status: 100, headers: [:], length: nil)), "interim")
        case 1, 2: apply(.head(TaskMachine.Head(status: .ok, headers: [:], length: nil)), "head")
        case 3, 4: data(Data(repeating: byte, count: Int.random(in: 0...20, using: &random)))
        case 5: apply(.ended(Bool.random(using: &random) ? nil : NetworkError(.unreachable)), "ended")
        case 6: if Int.random(in: 0..<3, using: &random) == 0 { apply(.broken(NetworkError(.cancelled)), "broken") }
        case 7: if Int.random(in: 0..<3, using: &random) == 0 { apply(.abandoned, "abandoned") }
        default: read()
        }
    }

    mutating func finish() {
        apply(.ended(nil), "last")
        for _ in 0..<4 { read() }
        if answers != 1 { problem = "\(answers) answers" }
        if isReading { problem = "a reader waits for ever" }
        if !given.starts(with: taken) { problem = "read \(Array(taken)), given \(Array(given))" }
        if !isBroken, taken != given { problem = "bytes are missing" }
    }

    private mutating func data(_ data: Data) {
        if !machine.isEnded, machine.head != nil { given += data }
        apply(.data(data), "data \(data.count)")
    }

    private mutating func read() {
        guard hasStreamed, !isReading else { return }
        isReading = true
        apply(.read, "read")
    }

    private mutating func apply(_ event: TaskMachine.Event, _ name: String) {
        events.append(name)
        let effect = machine.handle(event)
        switch effect {
        case .respond(_, let data):
            answers += 1
            taken += data
        case .stream:
            answers += 1
            hasStreamed = true
        case .fail:
            answers += 1
            isBroken = true
        case .chunk(let data):
            if !isReading { problem = "a chunk without a reader" }
            isReading = false
            taken += data ?? Data()
        case .breakOff:
            if !isReading { problem = "an error without a reader" }
            isReading = false
            isBroken = true
        case nil: break
        }
        if case .read = event, case .fail = effect { problem = "the caller was told by a reader" }
    }
}
