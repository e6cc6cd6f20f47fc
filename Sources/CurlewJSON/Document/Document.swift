// SPDX-License-Identifier: MIT

import CStack

/// A scanned document: its bytes, its tape, and the state for reading it. A decoder or a container consists of the
/// document and the index of a cell.
///
/// Reading changes nothing that two threads can access. The tape is complete before a model reads it. The caches for
/// the next read (`hints`, `paths`) belong to the thread that called `decode`, until `decode` returns. `stack`
/// identifies this thread.
final class Document {
    let options: FastJSONDecoder
    let convertsKeys: Bool
    let tape: Tape
    let userInfo: [CodingUserInfoKey: Any]
    private(set) var keys: KeyReader
    /// The copy of the bytes that `outliveCall` makes; nil if it has not been called.
    private var ownBytes: UnsafeMutableRawPointer?

    /// The part of the stack that `decode` may use. Empty after `decode` has returned: from then on, any number of
    /// threads may read.
    private(set) var stack: StackRoom
    /// The positions at which the next searches for keys begin. Used only on the thread of `decode`.
    let hints = SearchHints()
    /// The cache of coding paths. Used only on the thread of `decode`.
    var paths = PathCache()

    /// Scans the bytes. They must stay valid until the document is released or `outliveCall` has been called.
    ///
    /// Must be called in the frame of `decode`, above all frames of models.
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

    /// Whether the current function runs inside `decode`, on the thread of `decode`: its frame is below the frame of
    /// `decode`, where no other thread has frames.
    @inline(__always) var isConfined: Bool { stack.holdsCaller }

    /// Makes the document usable after `decode` has returned: copies the bytes, and allows any thread to read them.
    func outliveCall() {
        stack = .none
        let count = source.count
        let copy = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 1)
        copy.copyMemory(from: source.bytes.baseAddress ?? UnsafeRawPointer(copy), byteCount: count)
        ownBytes = copy
        let source = Source(base: UnsafeRawPointer(copy), count: count)
        keys = KeyReader(source: source, convertsKeys: convertsKeys, seed: keys.seed)
    }

    /// Checks the stack before a container is read. Throws if less than 64 KB of the thread's stack is left.
    @inline(__always)
    func enter(_ container: Int) throws {
        if !stack.holdsCaller { try enterElsewhere(container) }
    }

    /// Checks the stack if the function runs outside `decode`, on another thread, or near the end of this thread's
    /// stack.
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

/// A record, on a thread's stack, that the thread is reading an object as a dictionary.
///
/// If keys are converted, the keys of a dictionary stay as they are written, also in the coding paths of errors inside
/// the dictionary. Other readers of the same object see converted keys, so this is not a property of the object.
struct DictionaryFrame {
    private let document: ObjectIdentifier
    private let object: UInt32
    private let outer: UnsafeRawPointer?

    /// Runs `work`, and meanwhile records that this thread is reading the object as a dictionary.
    static func reading<Value>(_ object: Int, of document: Document, _ work: () throws -> Value) rethrows -> Value {
        guard let innermost = curlew_thread_dictionaries() else { return try work() }
        let outer = innermost.pointee
        let number = UInt32(truncatingIfNeeded: object)
        let frame = DictionaryFrame(document: ObjectIdentifier(document), object: number, outer: outer)
        return try withUnsafePointer(to: frame) { frame in
            innermost.pointee = UnsafeRawPointer(frame)
            defer { innermost.pointee = outer }
            return try work()
        }
    }

    /// Returns whether this thread is reading the object as a dictionary.
    static func isReading(_ object: Int, of document: Document) -> Bool {
        var next = curlew_thread_dictionaries()?.pointee
        while let frame = next?.load(as: DictionaryFrame.self) {
            if frame.object == object, frame.document == ObjectIdentifier(document) { return true }
            next = frame.outer
        }
        return false
    }
}
