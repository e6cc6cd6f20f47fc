// SPDX-License-Identifier: MIT

import CurlewAuthentication

@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

/// The order of events as `ExchangeEvent` documents it, for one call.
struct EventGrammar {
    private enum Phase {
        case sent, answered, hasTrailers, failed, over
    }

    private var begun = false
    private var attempts: [Int: Phase] = [:]
    private var end: String?
    private var words: [String] = []

    /// Whether another call may need what this one began.
    let isShared: Bool

    init(isShared: Bool) { self.isShared = isShared }

    /// What has come, for messages.
    var text: String { words.joined(separator: " ") }
    var isOver: Bool { end != nil }
    /// Requests whose end was not reported.
    var open: Int { attempts.values.filter { $0 != .over }.count }

    /// Takes the next event. What is wrong with it, nil if nothing.
    mutating func take(_ event: ExchangeEvent, _ attempt: Int?) -> String? {
        let word = Self.word(event)
        words.append(attempt.map { "\(word)\($0)" } ?? word)
        if let problem = follow(event, word, attempt) { return "\(problem): \(text)" }
        return nil
    }

    private mutating func follow(_ event: ExchangeEvent, _ word: String, _ attempt: Int?) -> String? {
        // A refresh may continue after its call, and after the check of the call's events.
        if word == "token" { return nil }
        let mayFollow = isShared || ["measured", "trailers", "cacheStoreFailed", "cacheEvicted"].contains(word)
        if let end, !mayFollow { return "\(word) after \(end)" }
        if case .began = event {
            defer { begun = true }
            return begun ? "a second began" : nil
        }
        guard begun else { return "\(word) before began" }
        switch event {
        case .succeeded, .failed:
            if end != nil { return "a second end" }
            end = word
            return nil
        case .sent, .connecting, .interim, .answered, .attemptFailed, .trailers, .measured, .warned:
            guard let attempt else { return "\(word) of no attempt" }
            return follow(word, attempt)
        default: return attempt == nil ? nil : "\(word) of one attempt"
        }
    }

    private mutating func follow(_ word: String, _ attempt: Int) -> String? {
        let next: Phase? =
            switch (word, attempts[attempt]) {
            case ("sent", nil): .sent
            case ("interim", .sent), ("connecting", .sent): .sent
            case ("warned", let known?) where known != .over: known
            case ("answered", .sent): .answered
            case ("trailers", .answered): .hasTrailers
            case ("attemptFailed", .sent): .failed
            case ("measured", .answered), ("measured", .hasTrailers), ("measured", .failed): .over
            default: nil
            }
        guard let next else { return "\(word)\(attempt) does not fit" }
        attempts[attempt] = next
        return nil
    }

    private static func word(_ event: any ExchangeEvent.Feature) -> String {
        switch event {
        case is TokenStore.Event: "token"
        case is Pipeline.PolicyEvent: "policy"
        case RedirectPolicy.Event.followed: "redirected"
        case RedirectPolicy.Event.kept: "redirectKept"
        case CookieStore.Event.refused: "cookieRefused"
        case HTTPCache.Event.decided: "cacheDecided"
        case HTTPCache.Event.storeFailed: "cacheStoreFailed"
        case HTTPCache.Event.evicted: "cacheEvicted"
        default: "unknown"
        }
    }

    static func word(_ event: ExchangeEvent) -> String {
        switch event {
        case .began: "began"
        case .joined: "joined"
        case .sent: "sent"
        case .connecting: "connecting"
        case .interim: "interim"
        case .answered: "answered"
        case .attemptFailed: "attemptFailed"
        case .tried: "tried"
        case .feature(let event): word(event)
        case .trailers: "trailers"
        case .measured: "measured"
        case .lost: "lost"
        case .warned: "warned"
        case .succeeded: "succeeded"
        case .failed: "failed"
        }
    }
}

/// Checks the received events against the grammar, each call separately.
final class EventReferee: RequestObserver {
    private struct State {
        var calls: [UInt64: EventGrammar] = [:]
        /// The first call of each name; others of the name are those that it has started.
        var names: [String: UInt64] = [:]
        var problems: [String] = []
        var isTelling = false
    }

    private let state = Locked(State())
    private let isShared: Bool

    /// - `isShared`: whether calls share exchanges, which may outlive the one that began them.
    init(isShared: Bool) { self.isShared = isShared }

    var problems: [String] { state.withLock { $0.problems } }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        let overlaps = state.withLock { state in
            defer { state.isTelling = true }
            return state.isTelling
        }
        state.withLock { state in
            defer { state.isTelling = false }
            if overlaps { state.problems.append("two events at a time") }
            if state.names[context.routeName] == nil { state.names[context.routeName] = context.id }
            let problem = state.calls[context.id, default: EventGrammar(isShared: isShared)]
                .take(event, context.requestNumber)
            if let problem { state.problems.append("\(context): \(problem)") }
        }
    }

    /// What is missing when the call of this name has returned; it is forgotten.
    func check(_ name: String) -> String? {
        state.withLock { state in
            guard let id = state.names[name], let call = state.calls[id] else { return "\(name): nothing was told" }
            if !isShared { state.calls[id] = nil }
            guard call.isOver else { return "\(name): no end when it returned: \(call.text)" }
            guard isShared || call.open == 0 else { return "\(name): \(call.open) open: \(call.text)" }
            return nil
        }
    }
}
