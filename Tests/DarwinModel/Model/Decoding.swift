// SPDX-License-Identifier: MIT

import Foundation

@testable import CurlewCurl

/// Removes the codings that Darwin knows: all of them, or none.
struct Decoding {
    private var decoder: ContentDecoder?

    init(_ field: String?) throws {
        let names = (field ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        let codings = names.filter { $0 != "identity" }.map { $0 == "zstd" ? nil : ContentCoding($0) }
        guard !codings.isEmpty, !codings.contains(where: { $0 == nil }) else { return }
        decoder = ContentDecoder(codings.compactMap { $0 })
    }

    mutating func decode(_ data: Data) throws -> Data {
        guard let decoder else { return data }
        var (result, rest) = (Data(), data)
        repeat {
            let step = try rest.withUnsafeBytes { bytes in
                guard let (piece, taken) = decoder.decode(bytes) else { throw URLError(.cannotDecodeContentData) }
                return (Data(piece), taken)
            }
            result += step.0
            rest = rest.dropFirst(step.1)
        } while !decoder.needsInput
        return result
    }

    func finish() throws {
        if decoder?.isComplete == false { throw URLError(.cannotDecodeContentData) }
    }
}
