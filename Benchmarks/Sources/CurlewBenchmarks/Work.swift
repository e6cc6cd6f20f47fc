// SPDX-License-Identifier: MIT

import Foundation

/// What a client does again and again. As text, `description`, it is an argument of every client's program.
enum Work: Hashable, CustomStringConvertible {
    /// Gets 200 bytes of JSON and decodes them into a model.
    case typed
    /// Gets this many bytes and reads them into memory.
    case bytes(Int)
    /// Gets this many bytes once and writes them to a file as they come.
    case download(Int, to: String)
    /// Sends a file of this many bytes once.
    case upload(Int, from: String)

    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        switch (parts.first, parts.count > 1 ? Int(parts[1]) : nil, parts.count > 2 ? parts[2] : nil) {
        case ("typed", nil, nil): self = .typed
        case ("bytes", let count?, nil): self = .bytes(count)
        case ("download", let count?, let file?): self = .download(count, to: file)
        case ("upload", let count?, let file?): self = .upload(count, from: file)
        default: throw Failure("\(text) is no work: typed, bytes:COUNT, download:COUNT:FILE or upload:COUNT:FILE")
        }
    }

    var description: String {
        switch self {
        case .typed: "typed"
        case .bytes(let count): "bytes:\(count)"
        case .download(let count, let file): "download:\(count):\(file)"
        case .upload(let count, let file): "upload:\(count):\(file)"
        }
    }

    /// Where it goes on the server.
    var path: String {
        switch self {
        case .typed: "/user.json"
        case .bytes(let count), .download(let count, _): "/\(count).bin"
        case .upload: "/sink"
        }
    }

    /// Bytes of content that one of it moves.
    var size: Int {
        switch self {
        case .typed: Canned.user.count
        case .bytes(let count), .download(let count, _), .upload(let count, _): count
        }
    }

    /// A megabyte of the same.
    var warmUp: Work {
        switch self {
        case .typed, .bytes: self
        case .download(_, let file): .download(Self.warmUpSize, to: file)
        case .upload(_, let file):
            .upload(Self.warmUpSize, from: (file as NSString).deletingLastPathComponent + "/\(Self.warmUpSize).bin")
        }
    }

    static let warmUpSize = 1 << 20

    /// Done once in a round, not for a time.
    var isTransfer: Bool {
        switch self {
        case .typed, .bytes: false
        case .download, .upload: true
        }
    }
}
