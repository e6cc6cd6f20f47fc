// SPDX-License-Identifier: MIT

import CStack

/// An object that is being read as a dictionary, on the stack of the thread that reads it.
///
/// Where keys are converted, those of a dictionary stay as they are written, and so do those in the paths of what is
/// read inside. Other readers of the same object see converted keys, so it is no property of the object.
struct DictionaryFrame {
    private let document: ObjectIdentifier
    private let object: UInt32
    private let outer: UnsafeRawPointer?

    /// Runs `work`, below which the object counts as a dictionary on this thread.
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

    /// If this thread is reading the object as a dictionary.
    static func isReading(_ object: Int, of document: Document) -> Bool {
        var next = curlew_thread_dictionaries()?.pointee
        while let frame = next?.load(as: DictionaryFrame.self) {
            if frame.object == object, frame.document == ObjectIdentifier(document) { return true }
            next = frame.outer
        }
        return false
    }
}
