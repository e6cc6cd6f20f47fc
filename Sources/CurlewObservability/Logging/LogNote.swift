// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The text of a decision during a call, for a log.
struct LogNote: Sendable {
    /// The name of the kind of event, such as `redirect.followed`.
    let name: String
    let text: String

    init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// Returns the note of an event of the call; nil for an event that the other entries of the call describe, and for
    /// an event of one request on the wire.
    init?(_ event: ExchangeEvent) {
        switch event {
        case .tried(let attempt):
            switch attempt.decision {
            case .retry: name = "retry"
            case .finish(because: .final): return nil
            case .finish: name = "retry.ended"
            }
            text = "attempt \(attempt)"
        case .joined(let call):
            name = "coalescing.joined"
            text = "shares the exchange of call #\(call)"
        case .feature(let event):
            name = event.name
            text = event.description
        default: return nil
        }
    }

    /// Whether the level `.line` includes events with this name.
    static func isImportant(_ name: String) -> Bool {
        switch name {
        case "retry", "redirect.followed", "token.renewed", "token.failed", "policy.circuit_opened", "policy.fell_back",
            "warning":
            true
        default: false
        }
    }

    /// Returns the note of an event of one request on the wire; nil if the event needs none.
    static func onWire(_ event: CallEvent, in context: ExchangeContext) -> LogNote? {
        wireText(event, in: context).map { LogNote(name: "request", text: $0) }
    }

    private static func wireText(_ event: CallEvent, in context: ExchangeContext) -> String? {
        let request = "request \(context.requestNumber ?? context.attempt)"
        switch event {
        case .other(.interim(let status, _)): return "\(request): interim response \(status.code)"
        case .attemptFailed(let error):
            return "\(request): \(error.label)"
        case .answered(let response):
            let metrics = response.metrics
            let time = metrics.firstByte.map { " after \($0.brief)" } ?? ""
            let version = metrics.version.map { " by \($0)" } ?? ""
            let use = metrics.reusedConnection.map { $0 ? " (existing)" : " (new)" } ?? ""
            let connection = metrics.connection.map { ", on \($0)\(use)" } ?? ""
            return "\(request): \(response.status)\(time)\(version)\(connection)"
        default: return nil
        }
    }
}

/// The notes that a log has not written yet. The events of a request on the wire arrive while locks of the client are
/// held, and on threads of the transport, where a log must not write. Their notes therefore wait for the next entry of
/// their call.
final class WaitingNotes: Sendable {
    /// The maximum number of notes of a call. Further notes are dropped.
    private static let noteLimit = 100
    /// The maximum number of calls with notes. Beyond it, the notes of all calls are dropped.
    private static let callLimit = 10_000

    private let notes = Locked<[UInt64: [LogNote]]>([:])

    func append(_ note: LogNote, for call: UInt64) {
        notes.withLock { notes in
            if notes[call] == nil, notes.count >= Self.callLimit { notes = [:] }
            if notes[call, default: []].count < Self.noteLimit { notes[call, default: []].append(note) }
        }
    }

    func take(_ call: UInt64) -> [LogNote] {
        notes.withLock { $0.isEmpty ? [] : $0.removeValue(forKey: call) ?? [] }
    }
}
