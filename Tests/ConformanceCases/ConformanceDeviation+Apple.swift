// SPDX-License-Identifier: MIT

import CurlewCookies

extension ConformanceSuite {
    /// The expected deviations of URLSession on Apple platforms. The suite has not been run there yet, but on a model of
    /// Darwin (`Tests/DarwinModel`).
    ///
    /// - Some deviations are certain, because the code of this package causes them: it refuses an option, or stores
    ///   fields in a dictionary.
    /// - Deviations that Apple documents, or that have been observed for years, are listed as "may fail", so that a run
    ///   records their outcome.
    /// - Deviations on Linux are not listed here, because there the cause is another library (FoundationNetworking uses
    ///   libcurl). If such a case also fails on Apple platforms, the run should report it.
    ///
    /// Among the open questions are the spelling of methods, the treatment of dot segments, the version that is
    /// reported for a head of HTTP/1.0, the time at which the body of a response that stops an upload is delivered, and
    /// the connections on which requests are repeated.
    static let urlSessionOnApple: [ConformanceDeviation] = [
        differs("A GET with a body is refused with `.invalidRequest`.", ["GET carries a body"]),
        differs(
            "Fields of requests are kept in a dictionary: one spelling for each name, no order.",
            ["fields keep their order, spelling and repetitions"]),
        differs(
            "Fields of responses are kept in a dictionary: one spelling for each name, sorted.",
            ["fields keep their order, spelling and repetitions, and Set-Cookie is never joined"]),
        differs(
            "Overrides of names are refused with `.configuration`.",
            ["an override changes the address of a request, and nothing else"]),
        differs(
            "Unix domain sockets are refused with `.configuration`.",
            [
                "a Unix domain socket takes every request, with the host of its URL",
                "a Unix domain socket without a listener is unreachable",
            ]),
        differs(
            "Custom versions are refused with `.configuration`.",
            ["HTTP/1.1 alone is spoken where that is asked for"]),
        differs(
            "Identities in PEM are refused with `.configuration`.",
            [
                "a server that asks for a certificate sees the client's",
                "a certificate of a stranger fails the call, with the reason",
                "a certificate is shown to the hosts that are named only",
            ]),
        differs(
            "Exceptions of a proxy and SOCKS with credentials are refused with `.configuration`.",
            [
                "hosts of the list are reached directly", "a tunnel through a SOCKS proxy leads to the server",
                "a SOCKS proxy that requires other credentials is distinguished from one that refuses",
            ]),
        differs(
            "Trailers of requests are refused with `.configuration`, and those of responses are not reported.",
            [
                "trailers of a request follow its chunks, announced in its head",
                "the trailers of a body are there when it has been read",
                "the trailers of a long body are there when it has been read",
                "the trailers of a body are there when it has been read, over HTTP/2",
            ]),
        differs("WebSocket messages are not compressed.", ["compressed messages return unchanged"]),
        differs(
            "The body of a response that refuses a WebSocket connection is not reported.",
            ["a refusal is an error, with its status and its body"]),
        differs(
            "Connecting is no phase of its own: it counts as waiting for the head.",
            ["a stalled handshake runs into the limit for connecting"]),
        may(
            "The head is reported with the first bytes of the body, or after 512 bytes if the system determines its type.",
            [
                "a slow body may take longer than every limit that it keeps",
                "a stall after the head runs into the limit for silence",
                "bodies may take longer than the limit of the attempt, down and up",
                "chunks are given as they come, and none is empty",
                "with streaming asked for, the response comes with its head",
            ]),
        may(
            "The system repeats requests on dead connections by their method (QA1941).",
            ["the route's idempotency has precedence over the method"]),
        may(
            "Known methods may be written in capitals, and are then refused with `.invalidRequest`.",
            ["get without a body goes out as it is, without fields about one"]),
        may(
            "The status with which a proxy refuses a tunnel is not reported.",
            [
                "a proxy that answers 403 to a tunnel has refused it",
                "a proxy that answers 502 to a tunnel has refused it",
            ]),
        may(
            "What the system refuses in heads, trailers and stacked codings is not known; interim heads are not counted.",
            [
                "a coding stacked six times is a bad response",
                "a response with a field that is longer than the limit ends there",
                "a response with an interim response over the limit ends there",
                "a response with more trailers than the limit ends there",
            ]),
        may(
            "The model of URLSession on Linux has this fault of libcurl 7.88.",
            ["a response that stops an upload is given to the caller, over HTTP/2"]),
        may(
            "Accept, Accept-Language, Connection and User-Agent are added.",
            ["nothing is added but Host and Accept-Encoding"]),
        may("Codings are always decoded.", ["a raw body is given unchanged"]),
        may(
            "What the system's buffers hold beyond ours cannot be seen from outside.",
            [
                "while a reader has not begun, the server can fill only the buffers",
                "while a reader pauses, the server can fill only the buffers",
                "a producer is asked for the next chunk only when there is room",
                "a reader that pauses makes the server of a stream wait",
                "a server that does not read makes the sender wait",
                "a reader that pauses makes the server wait",
            ]),
        may(
            "The system decides how a WebSocket connection ends; no Mac has run these cases yet.",
            [
                "a server that closes normally ends the messages",
                "another code of the server's close frame is an error, with code and reason",
                "a connection that is lost without a close frame is an error",
                "an orderly end of the connection without a close frame is an error",
                "a frame that violates the protocol ends the connection with 1002",
                "a response that does not switch protocols is an error",
                "an invalid handshake is an error, and ends the connection",
            ]),
    ].flatMap { $0 }

    private static func differs(_ reason: String, _ names: [String]) -> [ConformanceDeviation] {
        because(reason, .fails, on: "URLSession on Apple", names)
    }

    private static func may(_ reason: String, _ names: [String]) -> [ConformanceDeviation] {
        because(reason, .mayFail, on: "URLSession on Apple", names)
    }
}
