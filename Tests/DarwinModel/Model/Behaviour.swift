// SPDX-License-Identifier: MIT

import CurlewCore
@_exported import Foundation
@_exported import FoundationNetworking

/// What Darwin's URLSession does and the one of Linux does not, as switches of a session's configuration. What every
/// observer agrees on is on; what was seen by some is off, and a test turns it on.
struct DarwinBehaviour: Sendable {
    /// The head of a response is reported with the first bytes of its body, or at its end (Apple's developer forum,
    /// thread 64875; hamin/EventSource.Swift#2: "open" comes with the first message).
    var withholdsHead = true
    /// The number of bytes that the system waits for if it determines the type from the body (openradar 31862557).
    var sniffedBytes = 512
    /// After a refused certificate, the next tasks for the same origin end with -999, without a challenge
    /// (datatheorem/TrustKit#39, AFNetworking#3165, Apple's developer forum, thread 110187).
    var remembersRefusals = true
    /// Upload tasks add fields of draft-ietf-httpbis-resumable-upload, and go on by themselves with HEAD and PATCH if
    /// the server has sent a 104 (tus/rufh-implementations#10; NSURLSession.h: needNewBodyStreamFrom).
    var resumesUploads = true
    /// The number of pieces that a task still reports after `suspend` (the header promises no more transmissions, but
    /// what was received before is delivered).
    var piecesAfterSuspend = 2
    /// A body stream is requested, dropped, and requested again (connectrpc/connect-swift#399).
    var requestsStreamsTwice = false
    /// A response of multipart/x-mixed-replace is a head and a body for each part, without boundaries
    /// (Alamofire#3401; NSURLSession.h: "a response for each part").
    var reportsParts = true
    /// The end of a task is reported before its last piece. No document allows it; peers guard against it.
    var endsBeforeLastPiece = false
    /// How every task ends by itself, as those of a session that its owner invalidates (NSURLSession.h:
    /// invalidateAndCancel).
    let endsAllTasks = Locked<URLError.Code?>(nil)
    /// Whether there is a network. Without one, a task waits if its configuration says so, and fails if not.
    var network = Monitor(true)
}
