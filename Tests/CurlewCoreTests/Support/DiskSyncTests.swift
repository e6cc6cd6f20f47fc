// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct DiskSyncTests {
    /// A command that ends with these errors one after the other, and then well.
    private final class Command {
        private(set) var count = 0
        private let errors: [Int32]

        init(_ errors: Int32...) {
            self.errors = errors
        }

        func run(_ file: Int32) -> Int32 {
            count += 1
            guard count <= errors.count else { return 0 }
            errno = errors[count - 1]
            return -1
        }
    }

    @Test("The stronger command is used alone where the file system knows it")
    func strong() {
        let (strong, plain) = (Command(), Command())
        #expect(DiskSync.run(strong.run, else: plain.run, on: 0))
        #expect(strong.count == 1)
        #expect(plain.count == 0)
    }

    @Test("The plain command is used where the stronger one is unknown", arguments: [ENOTSUP, ENOTTY, EINVAL])
    func plain(error: Int32) {
        let (strong, plain) = (Command(error), Command())
        #expect(DiskSync.run(strong.run, else: plain.run, on: 0))
        #expect(plain.count == 1)
    }

    @Test("A disk error is thrown, and is not hidden by the plain command", arguments: [EIO, ENOSPC])
    func failure(error: Int32) {
        let (strong, plain) = (Command(error), Command())
        #expect(!DiskSync.run(strong.run, else: plain.run, on: 0))
        #expect(errno == error)
        #expect(plain.count == 0)
    }

    @Test("An interrupted command is repeated")
    func interrupted() {
        let (strong, plain) = (Command(EINTR, EINTR, ENOTSUP), Command(EINTR))
        #expect(DiskSync.run(strong.run, else: plain.run, on: 0))
        #expect(strong.count == 3)
        #expect(plain.count == 2)
    }

    @Test("A file that cannot be written to the disk throws an error")
    func system() {
        #expect(!DiskSync.keep(-1))
        #expect(errno == EBADF)
        #expect(!DiskSync.order(-1))
    }
}
