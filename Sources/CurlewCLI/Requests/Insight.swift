// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What `--explain`, `--har` and `--report` add to a client.
struct Insight {
    private(set) var observers: [any RequestObserver] = []
    private(set) var interceptors: [any Interceptor] = []
    private let recorder: FlightRecorder?
    private let harPath: String?
    private let reportPath: String?

    /// The greatest part of a body that is recorded.
    private static let bodyLimit = 1 << 20

    init(_ arguments: ParsedArguments, _ console: Console) {
        harPath = arguments[.har]
        reportPath = arguments[.report]
        if harPath != nil || reportPath != nil {
            let redaction: Redaction = arguments.has(.showSecrets) ? .none : .standard
            let recorder = FlightRecorder(
                capacity: 10_000, memory: 256 << 20, bodies: .upTo(Self.bodyLimit), redaction: redaction)
            self.recorder = recorder
            interceptors = [.recording(recorder)]
        } else {
            recorder = nil
        }
        if arguments.has(.explain) {
            observers.append(Explainer(style: console.errorStyle) { console.note($0) })
        }
    }

    /// Writes the files.
    func finish(_ io: CommandIO) throws {
        guard let recorder else { return }
        let document = recorder.har()
        if let harPath { try io.replace(harPath, with: document.data(pretty: true)) }
        if let reportPath { try io.replace(reportPath, with: Data(HTMLReport(document).text.utf8)) }
    }

    /// Writes the files after a failure, which is more important than a failure to write them.
    func finishAfterFailure(_ io: CommandIO) {
        do { try finish(io) } catch {
            if let error = error as? NetworkError { io.note("curlew: " + SafeText.lines(error.detail) + "\n") }
        }
    }
}
