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

    /// Returns the decoded content of a message. Throws `.decoding`.
    func value<Value: Decodable & Sendable>(
        _ type: Value.Type, in message: WebSocketMessage
    ) throws(NetworkError) -> Value {
        let data: Data =
            switch message {
            case .text(let text): Data(text.utf8)
            case .binary(let data): data
            }
        do { return try decode(type, from: data, mediaType: nil) } catch {
            let cause = NetworkError(error).detail
            throw NetworkError(.decoding, detail: "The message is no \(type). \(cause)", underlying: error)
        }
    }
}
