// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation

/// A step of a scripted event stream (WHATWG HTML §9.2), for `MockResponse.events(_:gzip:)` and
/// `HTTPResponse.events(_:on:)`.
///
///     server.on(.get, "/news", respond: .events([.event("one", id: "1"), .pause(.milliseconds(50)), .event("two")]))
@nonexhaustive
public enum MockEventStep: Hashable, Sendable {
    /// An event with this data. Each line of the data is sent as a `data` field. `retry` is sent in milliseconds. The
    /// name and the ID are sent as they are.
    case event(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil)
    /// A comment. Each line of the text is sent as a comment line.
    case comment(String)
    /// These bytes as they are, such as a part of an event or invalid text.
    case bytes(Data)
    /// A pause in real time, or on the clock of the mock. It ends early when the client closes the connection.
    case pause(Duration)
    /// The end of the connection. Later steps are not executed. A stream whose steps have all been executed ends
    /// normally.
    case interruption(MockResponse.Interruption)

    /// This text as it is, such as `retry: 10` and an empty line.
    public static func text(_ text: String) -> MockEventStep { .bytes(Data(text.utf8)) }
}

extension MockEventStep {
    static func encoded(_ data: String, name: String?, id: String?, retry: Duration?) -> Data {
        var text = ""
        if let name { text += "event: \(name)\n" }
        if let id { text += "id: \(id)\n" }
        if let retry { text += "retry: \(retry.roundedUpMilliseconds)\n" }
        for line in data.eventLines { text += "data: \(line)\n" }
        return Data((text + "\n").utf8)
    }

    static func encoded(comment: String) -> Data {
        Data((comment.eventLines.map { ": \($0)\n" }.joined() + "\n").utf8)
    }
}

extension String {
    /// The lines, ended by CR, LF or CRLF. CRLF is one `Character`.
    fileprivate var eventLines: [Substring] {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    }
}
