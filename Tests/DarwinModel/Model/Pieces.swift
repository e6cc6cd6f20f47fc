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

/// Takes a response of several parts apart (RFC 2046 §5.1.1).
struct PartReader {
    enum Step { case head([String: String]), data(Data) }
    private let boundary: Data
    private var rest = Data()
    private var isInPart = false

    init?(type: String?) {
        guard let type, type.lowercased().hasPrefix("multipart/x-mixed-replace"),
            let mark = type.range(of: "boundary=")
        else { return nil }
        boundary = Data("--\(type[mark.upperBound...].trimmingCharacters(in: CharacterSet(charactersIn: "\" ")))".utf8)
    }

    mutating func steps(_ data: Data) -> [Step] {
        var steps: [Step] = []
        rest += data
        while true {
            if !isInPart {
                guard let mark = rest.range(of: boundary),
                    let end = rest.range(of: Data("\r\n\r\n".utf8), in: mark.upperBound..<rest.endIndex)
                else { return steps }
                var fields: [String: String] = [:]
                for line in String(decoding: rest[mark.upperBound..<end.lowerBound], as: UTF8.self).split(
                    separator: "\r\n")
                {
                    let pair = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                    if pair.count == 2 { fields[pair[0]] = pair[1] }
                }
                steps.append(.head(fields))
                (rest, isInPart) = (Data(rest[end.upperBound...]), true)
            }
            guard let next = rest.range(of: Data("\r\n".utf8) + boundary) else {
                let keep = min(rest.count, boundary.count + 2)
                if rest.count > keep { steps.append(.data(Data(rest.dropLast(keep)))) }
                rest = Data(rest.suffix(keep))
                return steps
            }
            steps.append(.data(Data(rest[..<next.lowerBound])))
            (rest, isInPart) = (Data(rest[next.lowerBound...].dropFirst(2)), false)
        }
    }
}
