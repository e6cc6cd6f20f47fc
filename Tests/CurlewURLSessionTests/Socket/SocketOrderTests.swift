// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// Generated orders of everything that URLSession, the caller and the reader of a WebSocket connection may do. In each
/// one, the caller and every reader are resumed exactly once, and no message is lost.
@Suite(.timeLimit(.minutes(2)))
struct SocketOrderTests {
    enum Act: CaseIterable {
        case opened, openedWrongly, received, receivedMuch, notReceived, notReceivedWithCode
        case closed, closedWithout, completed, completedWithCode, refused
        case abandoned, broken, read, stoppedReading, close, cancel, overdue
    }

    /// One connection, with what its caller and its readers have got.
    private struct Connection {
        var machine = SocketMachine(limit: 8)
        private var callers = 0
        private var isOpen = false
        private var isReading = false
        private var receiving = 0
        /// The number of receive calls that can only fail.
        private var failing = 0
        private var isComplete = false
        private var sent: [String] = []
        private(set) var delivered: [String] = []
        private(set) var dropped = false
        private var ends: Set<String> = []
        private var orders = (close: 0, cancel: 0)
        private var senders = 0
        private var problem: String?

        mutating func perform(_ act: Act) {
            let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
            let head = TaskMachine.Head(status: 101, headers: [:])
            let closing = SocketMachine.Closing(code: .goingAway, reason: "")
            // Of a task that has completed, URLSession reports only what it has received before.
            switch act {
            case .opened: if !isComplete { handle(.opened(head, subprotocol: nil)) }
            case .openedWrongly: if !isComplete { handle(.opened(head, subprotocol: "x")) }
            case .received:
                guard receiving > failing, isOpen else { return }
                sent.append("\(sent.count)")
                receiving -= 1
                handle(.received(.text("\(sent.count - 1)")))
            case .receivedMuch:
                guard receiving > failing else { return }
                dropped = true
                receiving -= 1
                handle(.received(.text("too large")))
            case .notReceived, .notReceivedWithCode:
                guard receiving > 0 else { return }
                receiving -= 1
                failing = 0
                handle(.notReceived(lost, end: act == .notReceived ? nil : .success(closing)))
            case .closed: if !isComplete { handle(.closed(.success(closing))) }
            case .closedWithout: if !isComplete { handle(.closed(.failure(SocketMachine.lost))) }
            case .completed: complete(.completed(lost, head: nil, end: nil))
            case .completedWithCode: complete(.completed(lost, head: nil, end: .success(closing)))
            case .refused:
                let refused = TaskMachine.Head(status: .forbidden, headers: [:])
                complete(.completed(nil, head: refused, end: nil))
            case .abandoned: handle(.abandoned(NetworkError(.cancelled)))
            case .broken: dropped = true; handle(.broken(NetworkError(.refused(by: .shutdown))))
            // The connection exists once the caller has it.
            case .read: if isOpen, !isReading { isReading = true; handle(.read) }
            case .stoppedReading: if isReading { isReading = false; handle(.stoppedReading) }
            case .close: if isOpen { handle(.close(SocketMachine.Closing(code: .normal, reason: ""))) }
            case .cancel: if isOpen { dropped = true; handle(.cancel) }
            case .overdue:
                guard machine.isWaitingForEnd else { return }
                // A message that comes after the time for it is not expected any more.
                if receiving > 0 { dropped = true }
                handle(.overdue)
            }
        }

        /// A receive call that runs when the task completes returns no message.
        private mutating func complete(_ event: SocketMachine.Event) {
            if !isComplete { failing = receiving }
            isComplete = true
            handle(event)
        }

        private mutating func handle(_ event: SocketMachine.Event) {
            let wasComplete = machine.isComplete
            let effects = machine.handle(event)
            if let caller = effects.caller {
                callers += 1
                if case .opened = caller { isOpen = true }
            }
            if let reader = effects.reader {
                if !isReading { problem = "a reader was resumed that does not wait" }
                isReading = false
                switch reader {
                case .success(.text(let text)?): delivered.append(text)
                case .success(.binary?): problem = "unexpected bytes"
                case .success(nil): ends.insert("closed")
                case .failure(let error): ends.insert(error.label)
                }
            }
            for order in effects.orders {
                switch order {
                case .receive: receiving += 1
                case .close: orders.close += 1
                case .cancel: orders.cancel += 1
                }
                if order != .receive, wasComplete || machine.isComplete { problem = "an order after the completion" }
            }
            if effects.senders != nil { senders += 1 }
            if receiving > 1 { problem = "two receive calls at the same time" }
        }

        /// Ends the task, as URLSession does in the end, and returns what is wrong; nil if nothing is.
        mutating func finish() -> String? {
            perform(.completed)
            perform(.overdue)
            if callers != 1 { return "the caller was resumed \(callers) times" }
            if isReading { return "a reader waits for ever" }
            if orders.cancel > 1 || orders.close > 1 { return "the orders are \(orders)" }
            if senders != (isOpen ? 1 : 0) { return "the senders were resumed \(senders) times" }
            guard isOpen else { return problem }
            // Read what is left.
            for _ in 0..<3 {
                perform(.read)
                perform(.notReceived)
                perform(.overdue)
            }
            if isReading || machine.isWaitingForEnd { return "the connection does not end" }
            if ends.count != 1 { return "the reader got the ends \(ends)" }
            if delivered != Array(sent.prefix(delivered.count)) { return "delivered: \(delivered)" }
            if !dropped, delivered.count < sent.count { return "\(sent.count - delivered.count) messages are lost" }
            if !machine.isDrained || machine.end == nil { return "the machine is not at its end" }
            return problem
        }
    }

    private func check(_ acts: [Act]) -> String? {
        var connection = Connection()
        for act in acts { connection.perform(act) }
        return connection.finish().map { "\($0): " + acts.map { "\($0)" }.joined(separator: " ") }
    }

    @Test func allSequencesOfFour() {
        let acts = Act.allCases
        var problems: [String] = []
        func visit(_ prefix: [Act]) {
            guard prefix.count < 4 else { return problems.append(contentsOf: [check(prefix)].compactMap { $0 }) }
            for act in acts { visit(prefix + [act]) }
        }
        visit([])
        #expect(problems.count == 0, "\(problems.prefix(5))")
    }

    @Test func allPermutationsOfTheCallbacksAndDuringTheOpening() {
        var problems: [String] = []
        func visit(_ prefix: [Act], _ rest: [Act]) {
            if rest.isEmpty { return problems.append(contentsOf: [check(prefix)].compactMap { $0 }) }
            for (index, act) in rest.enumerated() {
                var others = rest
                others.remove(at: index)
                visit(prefix + [act], others)
            }
        }
        visit([.opened, .read], [.received, .notReceived, .closed, .completed, .read, .close, .abandoned])
        visit([.opened, .read], [.received, .read, .closedWithout, .completed, .stoppedReading, .cancel, .overdue])
        visit([], [.opened, .closed, .completed, .abandoned, .broken, .refused, .read])
        #expect(problems.count == 0, "\(problems.prefix(5))")
    }

    @Test func randomSequencesKeepTheRules() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var (problems, messages) = ([String](), 0)
        for _ in 0..<20_000 {
            // Mostly messages, so that the sequences get long.
            let acts: [Act] = (0..<24).map { index in
                if index == 0 { return .opened }
                let isMessage = Int.random(in: 0..<5, using: &random) < 3
                return (isMessage ? [.read, .received] : Act.allCases).randomElement(using: &random) ?? .read
            }
            messages += acts.count { $0 == .received }
            if let problem = check(acts) { problems.append(problem) }
        }
        #expect(problems.count == 0, "seed \(seed): \(problems.prefix(5))")
        #expect(messages > 20_000)
    }
}
