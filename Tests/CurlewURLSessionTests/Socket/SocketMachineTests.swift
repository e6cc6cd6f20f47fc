// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// What one WebSocket connection does in the usual orders of events, without I/O.
@Suite(.timeLimit(.minutes(1)))
struct SocketMachineTests {
    private let head = TaskMachine.Head(status: 101, headers: [:])
    private let done = SocketMachine.Closing(code: .normal, reason: "done")
    private let away = SocketMachine.Closing(code: .goingAway, reason: "")
    private let lost = NetworkError(.connectionLost(.requestMayHaveArrived), detail: "reset")

    private func machine(limit: Int = 100, isOpen: Bool = true) -> SocketMachine {
        var machine = SocketMachine(limit: limit, subprotocols: ["v2", "v1"])
        if isOpen { _ = machine.handle(.opened(head, subprotocol: nil)) }
        return machine
    }

    /// The effects of events, one text for each.
    private func run(_ machine: inout SocketMachine, _ events: SocketMachine.Event...) -> [String] {
        events.map { Self.text(machine.handle($0)) }
    }

    static func text(_ effects: SocketMachine.Effects) -> String {
        var parts: [String] = []
        switch effects.caller {
        case .opened(_, let subprotocol)?: parts.append("opened \(subprotocol ?? "")")
        case .refused(let head)?: parts.append("refused \(head.status.code)")
        case .failed(let error)?: parts.append("failed \(error.label)")
        case nil: break
        }
        switch effects.reader {
        case .success(.text(let text)?)?: parts.append("message \(text)")
        case .success(.binary(let data)?)?: parts.append("bytes \(data.count)")
        case .success(nil)?: parts.append("end")
        case .failure(let error)?: parts.append("thrown \(error.label)")
        case nil: break
        }
        for order in effects.orders {
            switch order {
            case .receive: parts.append("receive")
            case .close(let closing): parts.append("close \(closing.code)")
            case .cancel: parts.append("cancel")
            }
        }
        if effects.senders != nil { parts.append("senders") }
        return parts.isEmpty ? "-" : parts.joined(separator: ", ")
    }

    @Test func aConnectionOpensAndMessagesAreReceivedOnRequest() {
        var machine = machine(isOpen: false)
        let steps = run(
            &machine, .opened(head, subprotocol: "v1"), .read, .received(.text("a")), .read, .received(.text("b")))
        #expect(steps == ["opened v1", "receive", "message a", "receive", "message b"])
    }

    @Test func aSubprotocolThatWasNotOfferedIsRefused() {
        var machine = machine(isOpen: false)
        let steps = run(&machine, .opened(head, subprotocol: "v3"), .completed(nil, head: nil, end: nil))
        #expect(steps == ["failed badResponse, cancel", "-"])
    }

    @Test(
        "Another response than 101 is returned, whatever error URLSession makes of it",
        arguments: [nil, NetworkError.Reason.badResponse, .notAuthenticated(.refused), .cancelled])
    func refusal(reason: NetworkError.Reason?) {
        var machine = machine(isOpen: false)
        let refused = TaskMachine.Head(status: .forbidden, headers: [:])
        let steps = run(&machine, .completed(reason.map { NetworkError($0) }, head: refused, end: nil))
        #expect(steps == ["refused 403"])
    }

    @Test func aFailedConnectionIsNoResponse() {
        var lostOne = machine(isOpen: false)
        let refused = TaskMachine.Head(status: .forbidden, headers: [:])
        #expect(
            run(&lostOne, .completed(lost, head: refused, end: nil)) == [
                "failed connectionLost requestMayHaveArrived"
            ])
        var broken = machine(isOpen: false)
        let steps = run(&broken, .completed(NetworkError(.badResponse), head: head, end: nil))
        #expect(steps == ["failed badResponse"], "a 101 response whose fields are wrong")
        var empty = machine(isOpen: false)
        #expect(run(&empty, .completed(nil, head: nil, end: nil)) == ["failed badResponse"])
    }

    @Test func theOpeningIsCancelledOnce() {
        var machine = machine(isOpen: false)
        let steps = run(
            &machine, .abandoned(NetworkError(.cancelled)), .abandoned(NetworkError(.timedOut(.total))),
            .opened(head, subprotocol: nil), .completed(NetworkError(.cancelled), head: nil, end: nil))
        #expect(steps == ["failed cancelled, cancel", "-", "-", "-"])
        var open = self.machine()
        #expect(run(&open, .abandoned(NetworkError(.cancelled))) == ["-"], "the connection belongs to its response")
    }

    @Test("The server closes before or after the receive call fails, with or without the task's end")
    func serverCloses() {
        var closedFirst = machine()
        #expect(
            run(&closedFirst, .read, .closed(.success(away)), .notReceived(lost, end: nil)) == [
                "receive", "senders", "end",
            ])
        #expect(closedFirst.closing == away)
        var failedFirst = machine()
        #expect(
            run(&failedFirst, .read, .notReceived(lost, end: nil), .closed(.success(away))) == [
                "receive", "-", "end, senders",
            ])
        var completedFirst = machine()
        #expect(
            run(&completedFirst, .read, .completed(lost, head: nil, end: .success(away))) == [
                "receive", "end, senders",
            ])
        var silent = machine()
        #expect(run(&silent, .read, .notReceived(lost, end: .success(away))) == ["receive", "-"])
        #expect(silent.isWaitingForEnd)
        #expect(run(&silent, .overdue) == ["end, cancel, senders"])
    }

    @Test func messagesBeforeTheCloseFrameAreReceived() {
        var machine = machine()
        let steps = run(
            &machine, .closed(.success(away)), .read, .received(.text("a")), .read, .notReceived(lost, end: nil))
        #expect(steps == ["senders", "receive", "message a", "receive", "end"])
    }

    @Test func afterTheCloseFrameOfTheServerTheReaderWaitsForTheTask() {
        var machine = machine()
        _ = run(&machine, .read, .closed(.success(away)), .notReceived(lost, end: nil))
        #expect(run(&machine, .read, .completed(nil, head: nil, end: nil)) == ["-", "end"])
        #expect(run(&machine, .read) == ["end"])
    }

    @Test func aLostConnectionIsAnError() {
        var machine = machine()
        let steps = run(&machine, .read, .completed(lost, head: nil, end: nil), .read)
        #expect(
            steps == [
                "receive", "thrown connectionLost requestMayHaveArrived, senders",
                "thrown connectionLost requestMayHaveArrived",
            ])
        var reported = self.machine()
        let tls = NetworkError(.secureConnectionFailed(.handshake))
        let second = run(
            &reported, .read, .notReceived(tls, end: nil), .closed(.failure(SocketMachine.lost)))
        #expect(second.last == "thrown secureConnectionFailed handshake, senders", "the receive call says more")
        var coded = self.machine()
        let third = run(
            &coded, .read, .notReceived(tls, end: .failure(SocketMachine.lost)),
            .completed(nil, head: nil, end: .failure(SocketMachine.lost)))
        #expect(third.last == "thrown secureConnectionFailed handshake, senders")
    }

    @Test func theClientCloses() {
        var machine = machine()
        let steps = run(
            &machine, .read, .close(done), .close(away), .closed(.success(done)), .notReceived(lost, end: nil), .read)
        #expect(steps == ["receive", "close 1000", "-", "senders", "end", "end"])
        #expect(machine.sendFailure?.reason == .connectionLost(.requestNotSent))
        var silent = self.machine()
        let ended = run(&silent, .read, .close(done), .completed(NetworkError(.cancelled), head: nil, end: nil))
        #expect(ended == ["receive", "close 1000", "end, senders"])
        #expect(silent.closing == done, "URLSession does not say whether the server has replied")
        var broken = self.machine()
        let tls = NetworkError(.secureConnectionFailed(.handshake))
        let failed = run(&broken, .read, .close(done), .completed(tls, head: nil, end: nil))
        #expect(failed.last == "thrown secureConnectionFailed handshake, senders")
    }

    @Test func theClientEndsTheConnection() {
        var machine = machine()
        let steps = run(&machine, .read, .cancel, .cancel, .completed(NetworkError(.cancelled), head: nil, end: nil))
        #expect(steps == ["receive", "thrown cancelled, cancel, senders", "-", "-"])
    }

    @Test("A message that is too large closes with 1009, sent before the task is cancelled")
    func tooLarge() {
        var counted = machine(limit: 3)
        #expect(
            run(&counted, .read, .received(.text("four")), .cancel) == [
                "receive", "thrown limitExceeded responseBody, close 1009, senders", "-",
            ])
        #expect(counted.isWaitingForEnd)
        #expect(run(&counted, .overdue) == ["cancel"])
        var reported = machine(limit: 3)
        let steps = run(&reported, .read, .notReceived(SocketMachine.tooLarge(3), end: nil), .cancel)
        #expect(steps.dropFirst() == ["thrown limitExceeded responseBody, close 1009, senders", "-"])
        #expect(run(&reported, .completed(nil, head: nil, end: nil)) == ["-"])
        #expect(!reported.isWaitingForEnd)
        var exact = machine(limit: 4)
        #expect(run(&exact, .read, .received(.text("four"))) == ["receive", "message four"])
    }

    @Test func aMessageForACancelledReaderIsKept() {
        var machine = machine()
        let steps = run(
            &machine, .read, .stoppedReading, .received(.text("a")), .received(.text("twice")), .read, .read)
        #expect(steps == ["receive", "-", "-", "-", "message a", "receive"])
    }

    @Test func aShutdownEndsEverything() {
        let shutdown = NetworkError(.refused(by: .shutdown))
        var open = machine()
        #expect(run(&open, .read, .broken(shutdown)) == ["receive", "thrown refused shutdown, cancel, senders"])
        var opening = machine(isOpen: false)
        #expect(run(&opening, .broken(shutdown)) == ["failed refused shutdown, cancel"])
    }

    @Test func aCloseBeforeTheOpeningFailsIt() {
        var machine = machine(isOpen: false)
        #expect(run(&machine, .closed(.success(away))) == ["failed badResponse, cancel"])
    }
}
