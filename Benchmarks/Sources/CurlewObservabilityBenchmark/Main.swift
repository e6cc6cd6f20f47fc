// SPDX-License-Identifier: MIT

import Curlew
import CurlewRecording
import CurlewTesting
import Foundation

/// `CurlewObservabilityBenchmark` prints what observers add to the instructions of a small GET.
///
/// Each variant runs in processes of its own, over `CurlTransport` against a server in another process. Callgrind counts
/// the client's instructions, so the figures depend neither on the load of the machine nor on hardware counters. The
/// cost of a call is the difference of two runs with different numbers of calls.
@main
enum Main {
    // Not `async`: such a program ends its first thread, which Valgrind does not survive.
    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isQuick = arguments.contains("--quick")
        arguments.removeAll { $0 == "--quick" }
        switch arguments.first {
        case "serve": try Server.run()
        case "client":
            guard arguments.count == 4, let variant = Variant(rawValue: arguments[1]), let port = Int(arguments[2]),
                let calls = Int(arguments[3])
            else { return usage() }
            Client(variant: variant, port: port).runAndWait(calls)
        case nil: try Comparison(rounds: isQuick ? 1 : 5, calls: isQuick ? 200 : 1000).run()
        default: usage()
        }
    }

    private static func usage() {
        print("usage: Scripts/bench observability [--quick]")
        exit(2)
    }
}

/// What observes the calls.
enum Variant: String, CaseIterable {
    case none, metrics, recorder

    /// The most that it may add to the instructions of a call, as a ratio.
    var bar: Double? {
        switch self {
        case .none: nil
        case .metrics: 1.03
        case .recorder: 1.05
        }
    }

    var observers: [any RequestObserver] {
        switch self {
        case .none, .recorder: []
        case .metrics: [MetricsRegistry()]
        }
    }

    /// The pipeline of the client. The recorder keeps heads.
    var pipeline: Pipeline {
        switch self {
        case .none, .metrics: .standard
        case .recorder: .standard.adding(.recording(FlightRecorder()))
        }
    }
}
