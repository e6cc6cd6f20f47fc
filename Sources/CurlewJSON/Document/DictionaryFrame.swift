// SPDX-License-Identifier: MIT

import CStack

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
