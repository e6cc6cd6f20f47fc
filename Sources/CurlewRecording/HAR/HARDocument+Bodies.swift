// SPDX-License-Identifier: MIT

import CurlewCore
package import CurlewFoundation
package import CurlewHTTP

extension HARDocument {
    /// The body of a request.
    public struct PostData: Codable, Hashable, Sendable {
        /// The media type of the body; empty if it is unknown.
        public var mimeType: String
        /// The fields of a form; nil if there are none. If there is a `text` too, the body is that text.
        package var params: [NameValue]?
        /// The body as text, or in Base64 if `encoding` is `base64`; nil if it was not recorded, or only as `params`.
        public var text: String?
        package var comment: String?
        /// `base64` if `text` is encoded, otherwise nil. The format has no field for this, so it is in `_encoding`.
        public var encoding: String?

        private enum CodingKeys: String, CodingKey {
            case mimeType, params, text, comment
            case encoding = "_encoding"
        }
    }

    /// The body of a response, after decoding.
    public struct Content: Codable, Hashable, Sendable {
        /// The number of bytes after decoding; `-1` if it is unknown.
        public var size: Int64 = -1
        /// The media type of the body; empty if it is unknown.
        public var mimeType = ""
        /// The body as text, or in Base64 if `encoding` is `base64`; nil if it was not recorded.
        public var text: String?
        /// `base64` if `text` is encoded, otherwise nil.
        public var encoding: String?
        package var comment: String?
        /// The sizes of the chunks in which the body arrived, in bytes after decoding, in the field `_chunks`.
        /// Cassettes write this field for event streams and JSON Lines without secrets; nil for other bodies.
        package var chunks: [Int]?

        private enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding, comment
            case chunks = "_chunks"
        }
    }
}

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

extension HARDocument.PostData {
    /// Reads the value. A missing media type is empty.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = try values.value(.mimeType, or: "")
        params = try values.decodeIfPresent([HARDocument.NameValue].self, forKey: .params)
        text = try values.decodeIfPresent(String.self, forKey: .text)
        comment = try values.decodeIfPresent(String.self, forKey: .comment)
        encoding = try values.decodeIfPresent(String.self, forKey: .encoding)
    }
}

extension HARDocument.Content {
    /// Reads the value. Everything may be missing.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        size = try values.value(.size, or: -1)
        mimeType = try values.value(.mimeType, or: "")
        text = try values.decodeIfPresent(String.self, forKey: .text)
        encoding = try values.decodeIfPresent(String.self, forKey: .encoding)
        comment = try values.decodeIfPresent(String.self, forKey: .comment)
        // Another program may use the same name for something else.
        chunks = try? values.decodeIfPresent([Int].self, forKey: .chunks)
    }
}
