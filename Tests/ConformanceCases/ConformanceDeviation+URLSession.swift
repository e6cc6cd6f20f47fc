// SPDX-License-Identifier: MIT

import CurlewCookies

extension ConformanceSuite {
    /// The deviations of Foundation's URLSession on Linux, as observed with Swift 6.3.
    static let urlSessionOnLinux: [ConformanceDeviation] = [
        differs(
            "The system's library adds `Content-Length: 0` to requests without a body, unless they are GET or HEAD.",
            [
                "DELETE without a body goes out as it is, without fields about one",
                "OPTIONS without a body goes out as it is, without fields about one",
                "TRACE without a body goes out as it is, without fields about one",
                "PROPFIND without a body goes out as it is, without fields about one",
            ]),
        differs(
            "Other spellings of known methods are refused with `.invalidRequest`.",
            ["get without a body goes out as it is, without fields about one"]),
        differs("A GET with a body is refused with `.invalidRequest`.", ["GET carries a body"]),
        differs(
            "Streams are produced first and sent with their length.",
            [
                "a body from a stream is framed by chunks",
                "a response before the end of an upload is given to the caller, and the producer stops",
            ]),
        differs(
            "Fields of requests are kept in a dictionary: one spelling for each name, no order.",
            [
                "fields keep their order, spelling and repetitions"
            ]),
        differs(
            "Accept, Accept-Language, Connection and User-Agent are added.",
            [
                "nothing is added but Host and Accept-Encoding"
            ]),
        differs(
            "Dot segments are refused with `.invalidRequest`, because they would be resolved.",
            [
                "the target /a/../b is sent as it is", "the target /a/%2E/b is sent as it is",
            ]),
        differs(
            "Fields of responses are kept in a dictionary: one spelling for each name, sorted.",
            [
                "fields keep their order, spelling and repetitions, and Set-Cookie is never joined"
            ]),
        differs(
            "The system's library refuses codings that it does not know.",
            ["an unknown coding is delivered unchanged"]),
        differs(
            "The system's library takes the end of a body for the end of its coding.",
            [
                "a coding that is cut off is a bad response",
                "a coding that lacks a part of its checksum is a bad response",
            ]),
        differs("The version is not told, and taken for 1.1.", ["the status line \"HTTP/1.0 404 Not Found\" is read"]),
        differs(
            "Heads that are not written as usual end the call with `.badResponse`.",
            [
                "the status line \"HTTP/1.1 204\" is read", "bytes of a field that are not UTF-8 are read as Latin-1",
                "a field line without a space is read",
            ]),
        ends(
            "The system's library traps at the second head section of a response.",
            [
                "trailers end the body and change nothing in the head",
                "the trailers of a body are there when it has been read",
                "the trailers of a long body are there when it has been read",
                "a response of a head without its end is a lost connection",
                "a response with more trailers than the limit ends there",
            ]),
        differs("Trailers of requests are refused with `.configuration`.", [trailingRequest]),
        differs(
            "Connecting is no phase of its own: it counts as waiting for the head.",
            [
                "a stalled handshake runs into the limit for connecting"
            ]),
        differs(
            "A task cannot be slowed: a reader who is too far behind loses its body with `.limitExceeded`.",
            [
                "a reader that pauses for longer than the limit for silence gets its body"
            ]),
        may(
            "Nothing is held back; on a busy machine bytes stand still by themselves while the case looks.",
            [
                "while a reader has not begun, the server can fill only the buffers",
                "while a reader pauses, the server can fill only the buffers",
                "a reader that pauses makes the server of a stream wait",
                "a producer is asked for the next chunk only when there is room",
            ]),
        may(
            "The connection of an exchange that is dropped stays open for a while.",
            [
                "cancelling a reader that pauses ends the transfer", "a body that is released unread ends its transfer",
            ]),
        differs(
            "A request with a body takes no used connection: the library would repeat the message without its bytes.",
            [
                "a request with a body uses a connection again",
                "PUT on a connection that turns out to be dead is sent again",
            ]),
        differs("Codings are always decoded.", ["a raw body is given unchanged"]),
        differs(
            "A handshake that is reset is not distinguished from any other reset.",
            [
                "a server that resets the connection fails the handshake"
            ]),
        differs("IPv6 literals are refused with `.invalidRequest`.", ["an IPv6 address in the URL is reached"]),
        differs(
            "Overrides of names are refused with `.configuration`.",
            [
                "an override changes the address of a request, and nothing else"
            ]),
        differs(
            "Unix domain sockets are refused with `.configuration`.",
            [
                "a Unix domain socket takes every request, with the host of its URL",
                "a Unix domain socket without a listener is unreachable",
            ]),
        differs("Custom proxies are refused with `.configuration`.", proxyNames),
        differs(
            "Custom authorities, identities, pins and versions are refused with `.configuration`.", trustNames),
        differs("WebSocket connections are refused with `.configuration`.", socketNames),
    ].flatMap { $0 }

    private static let trailingRequest = "trailers of a request follow its chunks, announced in its head"

    private static var socketNames: [String] { cases(of: .webSockets).map(\.name) }

    /// The names of the cases that need a proxy but no certificate authority.
    private static var proxyNames: [String] {
        cases(of: .addresses).filter { $0.name.contains("proxy") || $0.name.hasPrefix("hosts of the list") }
            .filter { !$0.needs.contains(.authority) }.map(\.name)
    }

    /// The names of the cases that trust the test authority or use a pin.
    private static var trustNames: [String] {
        cases.filter { !$0.needs.isDisjoint(with: [.authority, .certificate]) }.map(\.name)
    }

    private static func differs(_ reason: String, _ names: [String]) -> [ConformanceDeviation] {
        because(reason, .fails, on: "URLSession", names)
    }

    private static func may(_ reason: String, _ names: [String]) -> [ConformanceDeviation] {
        because(reason, .mayFail, on: "URLSession", names)
    }

    private static func ends(_ reason: String, _ names: [String]) -> [ConformanceDeviation] {
        because(reason, .endsProcess, on: "URLSession", names)
    }
}
