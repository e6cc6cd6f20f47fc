// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
public import CurlewHTTP

extension Cassette {
    /// The mode of a cassette: replay, record, or both.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Responds from the file only, and never uses the network. The value of `CURLEW_CASSETTES` is `replay`.
        case replay
        /// Responds from the file if an entry matches, and records the other requests. The value of `CURLEW_CASSETTES`
        /// is `new`. A missing file is an empty one.
        case recordNew = "new"
        /// Records all requests, and replaces the file. The value of `CURLEW_CASSETTES` is `all`.
        case recordAll = "all"

        /// The environment variable that chooses the mode of cassettes that are created without one.
        public static let variable = "CURLEW_CASSETTES"

        /// Returns the mode that `CURLEW_CASSETTES` chooses: `replay`, `new` or `all`. Without the variable, or if it
        /// is empty, the mode is ``replay``. Throws `.configuration` for any other value.
        static func environment() throws(NetworkError) -> Mode {
            try named(ProcessInfo.processInfo.environment[variable] ?? "")
        }

        static func named(_ name: String) throws(NetworkError) -> Mode {
            if name.isEmpty { return .replay }
            if let mode = Mode(rawValue: name.lowercased()) { return mode }
            throw NetworkError(
                .configuration,
                detail: "\(variable) is \(name.printable.clipped(to: 50)), which is not a mode of a cassette.",
                hint: "Use one of: \(allCases.map(\.rawValue).joined(separator: ", ")).")
        }
    }

    /// The parts of a request that must be equal to those of an entry. The method, the URL without ignored query items,
    /// and the body always must.
    ///
    /// A part of a JSON body, form or query that changes with each call, such as a time or a nonce, does not prevent a
    /// match if it is declared as secret:
    /// `options.redaction = .standard.adding(Redaction.Rules(secretMembers: ["nonce"]))`.
    public struct Matching: Hashable, Sendable {
        /// The names of the query items that are ignored, decoded. Default none.
        public var ignoredQueryItems: Set<String> = []
        /// The header fields whose values must be equal. Default none.
        public var fields: Set<HTTPField.Name> = []

        /// Creates the default matching: the method, the URL and the body.
        public init() {}
    }

    /// The treatment of a request whose recordings were all replayed.
    public enum Exhaustion: Hashable, Sendable {
        /// The request counts as one without a match: it fails, or is recorded in the mode ``Mode/recordNew``.
        case fail
        /// The last recording is replayed again.
        case repeatLast
    }

    /// The matching, the redaction and the limits of a cassette.
    public struct Options: Sendable {
        /// The parts of a request that must match.
        public var matching = Matching()
        /// The treatment of a request whose recordings were all replayed. Default ``Exhaustion/fail``.
        public var exhaustion = Exhaustion.fail
        /// The secrets that are hidden, in addition to those that the client and its interceptors declare. Default
        /// `.standard`. With `.none`, the file contains all secrets.
        public var redaction = Redaction.standard
        /// The media ranges of bodies that are recorded although their secrets cannot be recognized, such as `image/*`.
        /// Default none: such a body fails the recording with `.refused(by: .cassette)`.
        public var opaqueTypes: [MediaType] = []
        /// The maximum number of bytes of a body, of either message, after decoding. A longer body fails the call with
        /// `.refused(by: .cassette)`. Default 16 MiB.
        public var maximumBodyBytes = 16 << 20
        /// The maximum number of bytes of the file. A longer file is neither read nor written. Default 256 MiB.
        public var maximumFileBytes = 256 << 20

        /// Creates the default options.
        public init() {}
    }
}
