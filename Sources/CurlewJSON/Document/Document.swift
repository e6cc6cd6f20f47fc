// SPDX-License-Identifier: MIT

/// A scanned document: its bytes, its tape, and what reading it needs. Decoders and containers hold it and an index.
///
/// Confined to the call of `decode` and to what escapes from it, as every `Decoder` is.
final class Document {
    let options: FastJSONDecoder
    let convertsKeys: Bool
    let tape: Tape
    private(set) var source: Source
    /// The copy of the bytes, once there is one.
    private var ownBytes: UnsafeMutableRawPointer?

    /// The indexes of objects that need one; objects hold their number in it.
    var keyIndexes: [KeyIndex] = []
    /// Where every entry belongs, once somebody has asked for a path.
    lazy var ancestry = Ancestry(of: tape)
    /// The keys of containers that paths have gone through, and whether these stand in a dictionary.
    var pathKeys: [Int: (key: PathKey, isDictionary: Bool)] = [:]
    lazy var userInfo = options.userInfo as [CodingUserInfoKey: Any]

    /// Scans the bytes, which must stay until the document is gone or `copyBytes` was called.
    init(_ bytes: UnsafeRawBufferPointer, options: FastJSONDecoder) throws {
        guard let base = bytes.baseAddress else { throw JSONSyntaxError(.unexpectedEnd, 0, in: bytes).asDecodingError }
        self.options = options
        convertsKeys = options.keyStrategy == .convertFromSnakeCase
        source = Source(base: base, count: bytes.count)
        do {
            tape = try Scanner.tape(of: source, convertsKeys: convertsKeys)
        } catch {
            throw JSONSyntaxError(error.reason, error.offset, in: bytes).asDecodingError
        }
    }

    deinit {
        tape.deallocate()
        ownBytes?.deallocate()
    }

    /// Makes the document independent of the caller's bytes.
    func copyBytes() {
        guard ownBytes == nil else { return }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(source.count, 1), alignment: 1)
        copy.copyMemory(from: source.bytes.baseAddress ?? UnsafeRawPointer(copy), byteCount: source.count)
        ownBytes = copy
        source = Source(base: UnsafeRawPointer(copy), count: source.count)
    }
}
