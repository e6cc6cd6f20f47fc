// SPDX-License-Identifier: MIT

import Curlew

/// Writes what the client does and why, one sentence per event.
struct Explainer: RequestObserver {
    let write: @Sendable (String) -> Void

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard let line = Self.line(event, context) else { return }
        write("* " + line.printable)
    }

    /// Returns the sentence for an event; nil if another event says the same.
    static func line(_ event: ExchangeEvent, _ context: ExchangeContext) -> String? {
        switch event {
        case .began(let request): return "The call begins: \(request)."
        case .joined(let call): return "The call waits for the equal request of call \(call) instead of sending one."
        case .sent(let request):
            let attempt = context.attempt > 1 ? ", attempt \(context.attempt)" : ""
            let hop = context.hop > 0 ? ", after \(context.hop) redirect\(context.hop == 1 ? "" : "s")" : ""
            return "Request \(context.requestNumber ?? 1) is sent: \(request)\(attempt)\(hop)."
        case .connecting(let phase): return sentence(phase)
        case .interim(let status, _): return "An interim response arrived: \(status)."
        case .answered(let response): return "The server responded \(response.status), over \(response.version)."
        case .attemptFailed(let error): return "The request failed: \(error.label). \(error.detail)"
        case .tried(let attempt): return "Decision: \(attempt)."
        case .feature(let feature): return "\(feature.name): \(feature)"
        case .trailers(let fields): return "Trailer fields arrived: \(fields.map(\.name.text).joined(separator: ", "))."
        case .measured(let metrics):
            let phases = TimingText.phases(metrics).filter { $0.duration > .zero }
            return "Measured: " + phases.map { "\($0.name) \($0.duration.brief)" }.joined(separator: ", ")
                + (metrics.bytesReceived.map { ", \($0) bytes received." } ?? ".")
        case .lost(let count): return "\(count) events were dropped."
        case .warned(let warning): return "Warning: \(warning)"
        case .succeeded(let response, let time): return "The call ended with \(response.status) after \(time.brief)."
        case .failed(let error, let time): return "The call failed after \(time.brief): \(error.label)."
        @unknown default: return nil
        }
    }

    private static func sentence(_ phase: ExchangeEvent.ConnectionPhase) -> String? {
        switch phase {
        case .resolving(let name): "The name \(name) is looked up."
        case .trying(let address): "A connection to \(address) is tried."
        case .opened: "The connection is open."
        case .secured(let tls): "The connection is secure: \(tls)."
        case .ready(let connection): "The request goes out on \(connection)."
        @unknown default: nil
        }
    }
}
