// SPDX-License-Identifier: MIT

/// A scanned document: its bytes, its tape, and what reading it needs. Decoders and containers hold it and an index.
///
/// Reading changes nothing that two threads can see: the tape is complete before a model sees it, and what speeds up
/// the next read (`hints`, `paths`) belongs to the thread of `decode` until that returns, which is told by its stack.
final class Document {
    let options: FastJSONDecoder
    let convertsKeys: Bool
    let tape: Tape
    let userInfo: [CodingUserInfoKey: Any]
    private(set) var keys: KeyReader
    /// The copy of the bytes, once there is one.
    private var ownBytes: UnsafeMutableRawPointer?

    /// None once `decode` has returned: from then on any number of threads may read.
    private(set) var stack: StackRoom
    /// Only for the thread of `decode`.
    let hints = SearchHints()
    /// Only for the thread of `decode`.
    var paths = PathCache()

    /// Scans the bytes, which must stay until the document is gone or `outliveCall` was called.
    ///
    /// Called in the frame of `decode`, above all that models do.
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

    /// If the caller runs on the thread of `decode`, below it. No other thread has its frames there.
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

    /// Called before a step down into a container: throws if the stack of the thread has little room left.
    @inline(__always)
    func enter(_ container: Int) throws {
        if !stack.holdsCaller { try enterElsewhere(container) }
    }

    /// On another thread, or where the stack of this one ends.
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
