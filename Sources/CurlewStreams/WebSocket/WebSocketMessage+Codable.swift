// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension Codecs {
    /// Returns a text message with the encoded value. Throws `.encoding`.
    func message(_ value: some Encodable & Sendable) throws(NetworkError) -> WebSocketMessage {
        do { return .text(String(decoding: try encode(value), as: UTF8.self)) } catch {
            // The description of an `EncodingError` contains the value.
            let cause = NetworkError(error).detail
            throw NetworkError(.encoding, detail: "The message could not be encoded. \(cause)", underlying: error)
        }
    }
}

extension WebSocketMessage {
    /// The bytes of the content.
    var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }
}
