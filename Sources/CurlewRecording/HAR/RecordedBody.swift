// SPDX-License-Identifier: MIT

import CurlewCore
package import CurlewFoundation
package import CurlewHTTP

/// The recorded form of a body: text or Base64 without secrets, or the reason why it is not recorded.
package struct RecordedBody: Hashable, Sendable {
    package private(set) var text: String?
    package private(set) var encoding: String?
    private(set) var comment: String?

    /// Creates the recorded form of `data`. Of a body with more than `limit` bytes, only the beginning is recorded.
    package init(
        _ data: Data, mediaType: MediaType?, redaction: Redaction, opaqueBodies: HARDocument.OpaqueBodies,
        limit: Int = .max
    ) {
        if data.count > limit { comment = "Only the first \(limit) bytes of the body are recorded." }
        if !redaction.hidesNothing {
            if data.isEmpty {
                text = ""
                return
            }
            text = redaction.shownBody(data, mediaType: mediaType, limit: limit, clips: true)
            guard text == nil else { return }
            guard opaqueBodies == .kept else {
                comment =
                    "The body (\(mediaType?.essence.printable ?? "of an unknown type")) is not recorded, because "
                    + "secrets cannot be recognized in it."
                return
            }
        }
        let data = data.prefix(limit)
        let whole = String(decoding: data, as: UTF8.self)
        if whole.utf8.elementsEqual(data) {
            // The parts of a multipart body and markup are kept as they are: a redaction would guess.
            let isKept = mediaType?.type == "multipart" || !redaction.shows(mediaType)
            text = isKept ? whole : redaction.bodyText(whole, mediaType: mediaType)
        } else {
            text = data.base64EncodedString()
            encoding = "base64"
        }
    }
}
