// SPDX-License-Identifier: MIT

/// A scanned document: its bytes, its tape, and the state for reading it. Decoders and containers hold it and an index.
///
/// Reading changes nothing that two threads can access: the tape is complete before a model reads it, and the caches
/// for the next read (`hints`, `paths`) belong to the thread of `decode` until that returns. Its stack identifies that
/// thread.
final class Document {
    let options: FastJSONDecoder
    let convertsKeys: Bool
    let tape: Tape
    let userInfo: [CodingUserInfoKey: Any]
    private(set) var keys: KeyReader
    /// The copy of the bytes, if there is one.
    private var ownBytes: UnsafeMutableRawPointer?

    /// Empty after `decode` has returned: from then on any number of threads may read.
    private(set) var stack: StackRoom
    /// Used only on the thread of `decode`.
    let hints = SearchHints()
    /// Used only on the thread of `decode`.
    var paths = PathCache()

    /// Scans the bytes, which must stay valid until the document is released or `outliveCall` was called.
    ///
    /// Called in the frame of `decode`, above all frames of models.
    init(_ source: Source, options: FastJSONDecoder, stack: StackRoom) throws(SyntaxFailure) {
        self.options = options
        self.stack = stack
        convertsKeys = options.keyStrategy == .convertFromSnakeCase
        userInfo = options.userInfo.isEmpty ? [:] : options.userInfo as [CodingUserInfoKey: Any]
        keys = KeyReader(source: source, convertsKeys: convertsKeys, seed: .process)
        tape = try Scanner.tape(for: keys)
    }

    deinit {
        tape.deallocate()
        hints.deallocate()
        ownBytes?.deallocate()
    }

    @inline(__always) var source: Source { keys.source }

    /// Whether the caller runs on the thread of `decode`, in a frame below it. No other thread has frames there.
    @inline(__always) var isConfined: Bool { stack.holdsCaller }

    /// Makes the document independent of the call of `decode`: of its bytes, and of its thread.
    func outliveCall() {
        stack = .none
        let count = source.count
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 1)
        copy.copyMemory(from: source.bytes.baseAddress ?? UnsafeRawPointer(copy), byteCount: count)
        ownBytes = copy
        let source = Source(base: UnsafeRawPointer(copy), count: count)
        keys = KeyReader(source: source, convertsKeys: convertsKeys, seed: keys.seed)
    }

    /// Called before entering a container. Throws if little of the thread's stack is left.
    @inline(__always)
    func enter(_ container: Int) throws {
        if !stack.holdsCaller { try enterElsewhere(container) }
    }

    /// The slow path: on another thread, or near the end of this thread's stack.
    @inline(never)
    private func enterElsewhere(_ container: Int) throws {
        guard StackRoom.isLittleLeft else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: path(to: container),
                debugDescription: """
                    The stack of this thread has less than \(StackRoom.reserve / 1024) KB left, too little to decode what \
                    stands deeper.
                    """))
    }
}
